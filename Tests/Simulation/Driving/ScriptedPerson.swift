import Synchronization
import WeftEvents
import WeftExecution
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

/// An approver that a seed describes: when it answers, and what; or that it never does.
final class ScriptedPerson: Approver {
  struct Record {
    let step: StepAddress
    var answeredAt: Duration?
    var answer: ApprovalAnswer?
  }

  private struct Question {
    let promise: Promise<ApprovalAnswer, Never>
    let stop: StopSwitch
    let due: Duration
    let answer: ApprovalAnswer
  }

  private struct State {
    var records: [Record] = []
    var open: [Int: Question] = [:]
    var random: SeededGenerator
  }

  private let state: Mutex<State>
  private let time: ManualTime
  private let isThere: Bool
  private let approvesAll: Bool

  init(time: ManualTime, seed: UInt64, isThere: Bool = true, approvesAll: Bool = false) {
    self.time = time
    self.isThere = isThere
    self.approvesAll = approvesAll
    state = Mutex(State(random: SeededGenerator(seed: seed ^ 0xA5C)))
  }

  var records: [Record] { state.withLock { $0.records } }
  var askedCount: Int { state.withLock { $0.open.count } }
  var nextDue: Duration? { state.withLock { $0.open.values.map(\.due).min() } }

  func ask(
    _ request: ApprovalRequest, stop: StopSwitch, reportAbsence: AbsenceReport?
  ) -> Future<ApprovalAnswer, Never> {
    guard isThere else { return Future(value: .unanswered("nobody is there")) }
    let promise = Promise<ApprovalAnswer, Never>(ifDropped: .success(.rejected))
    state.withLock { state in
      let approves = Int.random(in: 0..<10, using: &state.random) < 7
      let answer: ApprovalAnswer = approves || approvesAll ? .approved(by: "me") : .rejected
      let delay = Int.random(in: 0...9, using: &state.random)
      let due = time.now + .seconds(approvesAll ? 0 : delay)
      state.open[state.records.count] = Question(
        promise: promise, stop: stop, due: due, answer: answer)
      state.records.append(Record(step: request.step))
    }
    return promise.future
  }

  /// Drops the questions whose steps no longer want an answer.
  func noticeStops() {
    let given = state.withLock { state in
      let given = state.open.filter { $0.value.stop.level > .none }
      for number in given.keys { state.open[number] = nil }
      return given
    }
    for number in given.keys.sorted() { given[number]!.promise.succeed(.unanswered("stopped")) }
  }

  /// Answers one question that is due.
  func answerOne(at now: Duration) {
    let question = state.withLock { state -> Question? in
      guard
        let (number, question) = state.open.filter({ $0.value.due <= now }).min(by: {
          $0.key < $1.key
        })
      else { return nil }
      state.open[number] = nil
      state.records[number].answeredAt = now
      state.records[number].answer = question.answer
      return question
    }
    if let question { question.promise.succeed(question.answer) }
  }
}
