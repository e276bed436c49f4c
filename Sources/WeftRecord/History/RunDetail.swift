package import WeftEvents
import WeftExecution
package import WeftPlanning
import WeftPlatform

/// The complete recorded state of a run, for inspection.
package struct RunDetail: Sendable {
  package let run: RunID
  package let state: RecordedState
  package let recorded: RunState
  /// The steps in the order of their first records.
  package let order: [StepAddress]
  /// The damage at which reading stopped.
  package let damage: JournalError?
  /// The path of the run's folder in messages.
  package let folder: String

  package init(
    _ run: RunID, _ state: RecordedState, _ recorded: RunState, order: [StepAddress],
    damage: JournalError? = nil, folder: String
  ) {
    self.run = run
    self.state = state
    self.recorded = recorded
    self.order = order
    self.damage = damage
    self.folder = folder
  }

  /// The steps in the order of their first records, without outdated ones.
  package var steps: [(address: StepAddress, step: RecordedStep)] {
    order.compactMap { address in
      recorded.steps[address].flatMap { $0.isOutdated ? nil : (address, $0) }
    }
  }

  /// Returns the path of a step's log, which exists if the step wrote anything.
  package func logPath(of step: StepAddress) -> String {
    "\(folder)/\(RunFolder.logsName)/\(LogFolder.fileName(of: step))"
  }
}

extension RunDetail {
  /// The steps that wait for approval, and their messages, in journal order.
  package var questions: [ApprovalRequest] {
    order.compactMap { address in
      guard let step = recorded.steps[address], step.isAsking, let message = step.question else {
        return nil
      }
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
    var order = MentionOrder()
    let contents = try RunFolder.contents(of: run, in: self, limits: limits) { record in
      order.apply(record)
      visit(record)
    }
    guard contents.lines > 0 || contents.damage != nil else {
      throw .missingOpening(
        run, journal: "\(directory.path)/\(RunFolder.journalName)", bytes: contents.tornBytes)
    }
    return RunDetail(
      run, contents.damage == nil ? contents.run.state(isHeld: isHeld) : .damaged, contents.run,
      order: order.steps, damage: contents.damage, folder: directory.path)
  }
}

/// Steps in the order of their first records.
private struct MentionOrder {
  private(set) var steps: [StepAddress] = []
  private var known: Set<StepAddress> = []

  mutating func apply(_ record: RunRecord) {
    guard let step = record.kind.step, known.insert(step).inserted else { return }
    steps.append(step)
  }
}
