package import WeftExecution
package import WeftPlanning
import WeftPlatform

/// All that is recorded of a run, to be looked at.
package struct RunDetail: Sendable {
  package let run: RunID
  package let state: RecordedState
  package let past: RecordedRun
  /// Its steps, as they were first told of.
  package let order: [StepAddress]
  /// Where reading had to stop.
  package let damage: JournalDamage?
  /// The run's folder, as messages call it.
  package let folder: String

  package init(
    _ run: RunID, _ state: RecordedState, _ past: RecordedRun, order: [StepAddress],
    damage: JournalDamage? = nil, folder: String
  ) {
    self.run = run
    self.state = state
    self.past = past
    self.order = order
    self.damage = damage
    self.folder = folder
  }

  /// The steps that it comes to, as they were first told of; without those of which the record is outdated.
  package var steps: [(address: StepAddress, step: RecordedStep)] {
    order.compactMap { address in
      past.steps[address].flatMap { $0.isOutdated ? nil : (address, $0) }
    }
  }

  /// Where what a step wrote is, if it wrote anything.
  package func logPath(of step: StepAddress) -> String {
    "\(folder)/\(RunFolder.logsName)/\(LogFolder.fileName(of: step))"
  }
}

extension RunDetail {
  /// Steps that wait for somebody, and what they ask, in the order of the record.
  package var questions: [ApprovalRequest] {
    order.compactMap { address in
      guard let step = past.steps[address], step.isAsking, let message = step.asks else {
        return nil
      }
      return ApprovalRequest(step: address, message: message)
    }
  }
}

extension StateDirectory {
  /// Reads the whole record of a run, whoever has it. Nothing is changed.
  ///
  /// - Parameter visit: Called with each record, in order.
  package func detail(
    of run: RunID, limits: JournalLimits = JournalLimits(),
    visiting visit: (RunRecord) -> Void = { _ in }
  ) throws(RunFolderFault) -> RunDetail {
    let directory = try folder(of: run)
    // What is recorded after an engine has been seen to be gone is all that ever will be.
    let isHeld = try RunFolder.isHeld(directory)
    var order = FirstMentions()
    let contents = try RunFolder.contents(of: run, in: self, limits: limits) { record in
      order.note(record)
      visit(record)
    }
    guard contents.lines > 0 || contents.damage != nil else {
      throw .noBeginning(
        run, journal: "\(directory.path)/\(RunFolder.journalName)", bytes: contents.tornBytes)
    }
    return RunDetail(
      run, contents.damage == nil ? contents.run.state(isHeld: isHeld) : .damaged, contents.run,
      order: order.steps, damage: contents.damage, folder: directory.path)
  }
}

/// Steps in the order in which they are first told of.
private struct FirstMentions {
  private(set) var steps: [StepAddress] = []
  private var known: Set<StepAddress> = []

  mutating func note(_ record: RunRecord) {
    guard let step = record.kind.step, known.insert(step).inserted else { return }
    steps.append(step)
  }
}
