import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftTestKit

/// A run without an approver: it is suspended whenever it only waits for answers, and resumed when there are some.
struct LeftRun {
  let made: RandomWorkflow
  private(set) var parts: [RunPart] = []
  /// The number of resumptions.
  private(set) var departures = 0
  /// Whether it asked so often that the test ended it.
  var wasEnded: Bool { departures > LeftRun.patience }

  /// The limit of resumptions. A group that fails and is retried asks again, for ever if it always fails, since each
  /// engine counts its own attempts. The test ends such a run.
  private static let patience = 40

  private enum Ending: CaseIterable {
    /// The run ends, or is suspended.
    case own
    case cancelled
    case engineKilled
  }

  /// - Parameters:
  ///   - approvesAll: Whether every answer is yes.
  ///   - isDisturbed: Whether engines are also killed, and parts cancelled, between an answer and its question. Then any
  ///     question of the record is answered, not only one of the last engine.
  init?(
    seed: UInt64, _ vocabulary: RandomWorkflow.Vocabulary = .all, approvesAll: Bool,
    isDisturbed: Bool = false
  ) {
    var made = RandomWorkflow.make(seed: seed, vocabulary)
    made.workflow = made.workflow.withIdempotentSteps
    self.made = made
    var random = SeededGenerator(seed: seed ^ 0xA5C)
    var (recorded, inbox, answers) = (RunHistory(), MemoryInbox(), [ControlRequest]())
    while true {
      let ending =
        isDisturbed && departures < LeftRun.patience
        ? Ending.allCases.randomElement(using: &random)! : .own
      var circumstances = Simulation.Circumstances(isRecorded: true, inbox: inbox)
      if departures > 0 { circumstances.recorded = recorded.run }
      if ending == .cancelled {
        let moment = Duration.seconds(Int.random(in: 0...15, using: &random))
        circumstances.interruptions = [.init(moment: moment, kills: false)]
      }
      // A request remains until its effect is recorded.
      let before = inbox.nextEngine(after: recorded.run)
      guard let simulation = Simulation(seed: seed, made, in: circumstances) else { return nil }
      let isCut = ending == .engineKilled
      let count = isCut ? Int.random(in: 1...simulation.events.count, using: &random) : .max
      let part = RunPart(
        events: Array(simulation.events.prefix(count)), leaks: isCut ? [] : simulation.leaks,
        end: isCut ? nil : simulation.report.end, answers: answers)
      recorded.append(simulation, until: count)
      parts.append(part)
      let isOver = part.end.map { ending == .own || $0.outcome == .success } ?? false
      if isOver || departures > LeftRun.patience { break }
      departures += 1
      inbox = (isCut ? before : inbox).nextEngine(after: recorded.run)
      let asking =
        isDisturbed
        ? recorded.run.steps.filter(\.step.isAsking).map(\.address)
        : simulation.report.pause?.requests.map(\.step) ?? []
      let known = Set(inbox.requests.compactMap(\.answeredStep))
      answers = asking.filter { !known.contains($0) }.randomAnswers(approvesAll, &random)
      if departures > LeftRun.patience { answers = [.cancel] }
      for answer in answers { inbox.leave(answer) }
    }
  }
}

extension [StepAddress] {
  /// Answers to some of these steps: not all answers arrive at once.
  fileprivate func randomAnswers(
    _ approvesAll: Bool, _ random: inout SeededGenerator
  ) -> [ControlRequest] {
    if isEmpty { return [] }
    return prefix(Int.random(in: 1...count, using: &random)).map { step in
      let approves = approvesAll || Int.random(in: 0..<10, using: &random) < 7
      return approves ? .approve(step) : .reject(step)
    }
  }
}

extension LeftRun {
  /// Prints the run for debugging.
  func report() { made.report(parts) }
}
