package import WeftEvents
import WeftExecution
package import WeftPlanning
import WeftPlatform

/// The complete recorded state of a run, for inspection.
package struct RunDetail: Sendable {
  package let run: RunID
  package let state: RecordedState
  package let recorded: RunState
  /// The damage at which reading stopped.
  package let damage: JournalError?
  /// The path of the run's folder in messages.
  package let folder: String

  package init(
    _ run: RunID, _ state: RecordedState, _ recorded: RunState,
    damage: JournalError? = nil, folder: String
  ) {
    self.run = run
    self.state = state
    self.recorded = recorded
    self.damage = damage
    self.folder = folder
  }

  /// The steps in the order of their first records, without outdated ones.
  package var steps: some Sequence<RecordedSteps.Element> {
    recorded.steps.lazy.filter { !$0.step.isOutdated }
  }

  /// Returns the path of a step's log, which exists if the step wrote anything.
  package func logPath(of step: StepAddress) -> String {
    "\(folder)/\(RunFolder.logsName)/\(LogFolder.fileName(of: step))"
  }
}

extension RunDetail {
  /// The steps that wait for approval, and their messages, in journal order.
  package var questions: [ApprovalRequest] {
    recorded.steps.compactMap { address, step in
      guard step.isAsking, let message = step.question else { return nil }
      return ApprovalRequest(step: address, message: message)
    }
  }
}

extension StateDirectory {
  /// Reads the whole journal of a run regardless of its lock. Changes nothing.
  ///
  /// - Parameter visit: Called with each record, in order.
  package func detail(
    of run: RunID, limits: JournalLimits = JournalLimits(),
    visiting visit: (RunRecord) -> Void = { _ in }
  ) throws(RunFolderError) -> RunDetail {
    let directory = try folder(of: run)
    // Checked first: if no engine holds the run now, the journal is final when it is read.
    let isHeld = try RunFolder.isHeld(directory)
    let contents = try RunFolder.contents(of: run, in: self, limits: limits, visiting: visit)
    guard contents.lines > 0 || contents.damage != nil else {
      throw .missingOpening(
        run, journal: "\(directory.path)/\(RunFolder.journalName)", bytes: contents.tornBytes)
    }
    return RunDetail(
      run, contents.damage == nil ? contents.run.state(isHeld: isHeld) : .damaged, contents.run,
      damage: contents.damage, folder: directory.path)
  }
}

/// The progress of a loop in a recorded run.
package struct RecordedLoop: Sendable, Hashable {
  package let address: StepAddress
  package let elements: Int
  /// The number of elements without any record, which have not begun.
  package let notStarted: Int
}

extension RunState {
  /// The loops whose elements are recorded, by address.
  package var loops: [RecordedLoop] {
    let listed = groups.filter { $0.value.elements != nil }
    guard !listed.isEmpty else { return [] }
    let begun = startedElements
    return listed.sorted { $0.key.text < $1.key.text }.map { address, group in
      let keys = group.elements?.elements.map(\.key) ?? []
      return RecordedLoop(
        address: address, elements: keys.count,
        notStarted: keys.count { !begun.contains(address.element($0)) })
    }
  }

  /// The elements with any record, and all elements around them.
  private var startedElements: Set<StepAddress> {
    var found: Set<StepAddress> = []
    let insert = { (address: StepAddress) in
      var next = address.innermostElement
      while let element = next, found.insert(element).inserted {
        next = element.loop?.innermostElement
      }
    }
    for (address, step) in steps where !step.isOutdated { insert(address) }
    groups.keys.forEach(insert)
    return found
  }

  /// The number of steps in the run, as far as known: those of the plan and of each known element.
  package var stepCount: Int? {
    guard let planned = start?.stepCount else { return nil }
    // The plan counts the steps of an element once; their number is known from elements that have begun.
    let sizes = stepsOfElements
    let expanded = loops.reduce(0) { sum, loop in
      let size = max(1, sizes[loop.address]?.count ?? 1)
      return sum + size * (loop.notStarted - (loop.address.hasElement ? 0 : 1))
    }
    return max(0, planned + steps.count(where: \.address.hasElement) + expanded)
  }

  /// The steps in the elements of each loop, by the parts of their addresses after the element. Steps of inner loops
  /// belong to those.
  private var stepsOfElements: [StepAddress: Set<ArraySlice<StepAddress.Part>>] {
    var found: [StepAddress: Set<ArraySlice<StepAddress.Part>>] = [:]
    for (address, _) in steps {
      guard let element = address.innermostElement, let loop = element.loop else { continue }
      found[loop, default: []].insert(address.parts(after: element))
    }
    return found
  }
}

/// The predicted effect of `weft resume`, as far as the journal shows.
package struct ResumeAdvice: Sendable, Hashable {
  /// The steps that are known to run again, in journal order.
  package var again: [StepAddress] = []
  /// The interrupted steps: they run again only if they are safe to repeat or the user allows it.
  package var inDoubt: [StepAddress] = []
  /// The number of steps without a record, those of all elements of started loops included.
  package var unlisted = 0

  package init(_ detail: RunDetail) {
    for (address, step) in detail.recorded.steps {
      if detail.recorded.isInDoubt(address) {
        inDoubt.append(address)
      } else if step.restarts {
        again.append(address)
      }
    }
    unlisted = max(0, (detail.recorded.stepCount ?? 0) - detail.recorded.steps.count)
  }
}

extension RecordedStep {
  /// Whether it is not done, except by a decision of the workflow or an option of the run.
  fileprivate var restarts: Bool {
    switch state {
    case .finished(let end, _): end.conclusion != .success && end.cancellation?.isDecided != true
    case .skipped(.cancelled(let reason)): !reason.isDecided
    case .skipped(.condition), .skipped(.notSelected): false
    case .skipped, .queued, .started, .retrying: true
    }
  }
}

extension CancelReason {
  /// Whether the cancellation is final, because another step has done the work.
  fileprivate var isDecided: Bool {
    switch self {
    case .raceWon, .joined: true
    case .requested, .signal, .runTimeout, .groupTimeout, .failure, .recordLost: false
    }
  }
}
