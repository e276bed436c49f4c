import Synchronization
import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlanning
import WeftPlatform

/// The world of a case besides its engine: virtual time, what is due in it, and what was seen.
final class CaseWorld: Sendable {
  private struct State {
    var record = CaseRecord()
    /// The number of real attempts, and of other work on other threads.
    var realCount = 0
    /// The number of attempts of each step, over all engines.
    var executions: [StepAddress: Int] = [:]
    /// The results of the current attempts.
    var current: [StepAddress: ScriptedResult] = [:]
    /// The output of the last attempts of steps whose logs are read.
    var logs: [StepAddress: String] = [:]
    var book: ScriptBook
  }

  let time = ManualTime()
  let agenda = Agenda()
  private let state: Mutex<State>
  private let addresses: PlanAddresses
  private let wakeup = Wakeup()

  init(_ book: ScriptBook, _ addresses: PlanAddresses) {
    state = Mutex(State(book: book))
    self.addresses = addresses
  }

  /// Replaces the scripts for the next engine; the attempts of a step are counted from 1 where that has scripts of its
  /// own.
  func turnTo(_ book: ScriptBook, resetting isReset: (StepAddress) -> Bool) {
    state.withLock { state in
      state.book = book
      for step in state.executions.keys where isReset(step) { state.executions[step] = nil }
    }
  }

  // MARK: Scripts

  /// The result of the next attempt of a step; `nil` without a script.
  ///
  /// - Parameter isSame: Whether the attempt has begun before.
  func nextResult(of step: StepAddress, isSame: Bool = false) -> ScriptedResult? {
    state.withLock { state in
      guard let script = state.book.script(of: step) else { return nil }
      state.record.usedScripts.insert(script.pattern.value)
      let earlier = max(0, state.executions[step, default: 0] - (isSame ? 1 : 0))
      state.executions[step] = earlier + 1
      let result = script.results[min(earlier, script.results.count - 1)]
      state.current[step] = result
      return result
    }
  }

  /// The result that ``nextResult(of:isSame:)`` returned last.
  func currentResult(of step: StepAddress) -> ScriptedResult? {
    state.withLock { $0.current[step] }
  }

  // MARK: Logs

  func keepLog(_ text: String, of step: StepAddress) {
    state.withLock { $0.logs[step] = text }
  }

  /// The output of the last attempt of a step of the plan, as an attempt at another address reads it.
  func log(ofStep planned: StepAddress, around address: StepAddress) -> String? {
    let instances = addresses.instances(of: planned, around: address)
    let logs = state.withLock { $0.logs }
    return instances.lazy.compactMap { logs[$0] }.first
  }

  // MARK: Records

  var record: CaseRecord { state.withLock { $0.record } }

  func change(_ change: (inout CaseRecord) -> Void) { state.withLock { change(&$0.record) } }

  /// - Returns: The index of the record, for its requests.
  func begin(_ attempt: CaseRecord.Attempt) -> Int {
    state.withLock { state in
      state.record.attempts.append(attempt)
      return state.record.attempts.count - 1
    }
  }

  /// Records an attempt without a script.
  func reportUnscripted(_ step: StepAddress, _ act: String, help: String? = nil) {
    let remedy =
      "write \"steps\": { \(quoted(step.text)): {} }, or { \"real\": true } to let it run"
    state.withLock { state in
      let unscripted = CaseRecord.Unscripted(
        address: step, engine: state.record.endedEngines, act: act, help: help ?? remedy)
      if !state.record.unscripted.contains(unscripted) {
        state.record.unscripted.append(unscripted)
      }
    }
  }

  var isUnscripted: Bool { state.withLock { !$0.record.unscripted.isEmpty } }

  // MARK: Real work

  func beginReal() { state.withLock { $0.realCount += 1 } }

  /// Ends work on another thread; what follows from it is done by the thread that drives the case.
  func endReal(_ act: @escaping @Sendable () -> Void) {
    agenda.add(at: time.now, act)
    state.withLock { $0.realCount -= 1 }
    wakeup.wake()
  }

  var isRealWorkLeft: Bool { state.withLock { $0.realCount } > 0 }

  /// Waits until real work has ended or something is due, but not long.
  func waitForReal() {
    if agenda.nextDue.map({ $0 <= time.now }) != true { wakeup.wait(atMost: .milliseconds(100)) }
  }
}
