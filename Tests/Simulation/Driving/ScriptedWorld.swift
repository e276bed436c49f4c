import Synchronization
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

/// An executor without programs. A seed describes how long each attempt takes, how it ends, and how it reacts to a
/// request to stop. An attempt depends only on its address and on how often it was made before.
final class ScriptedWorld: StepExecutor {
  /// The result of one attempt.
  struct Record {
    let address: StepAddress
    let number: Int
    let startedAt: Duration
    let timeout: Duration?
    let environment: [String: String?]
    /// The time at which it was first asked to stop.
    var stoppedAt: Duration?
    var endedAt: Duration?
    var status: AttemptEnd.Status?
    /// The time at which the sign was found that a service is ready.
    var readyAt: Duration?
  }

  fileprivate struct Running {
    let attempt: Attempt
    let promise: Promise<AttemptEnd, Never>
    let record: Int
    var level = StopLevel.none
    var due: Duration
    var status: AttemptEnd.Status
    var random: SeededGenerator
  }

  /// A search for the sign that a service is ready.
  private struct Search {
    let promise: Promise<Bool, Never>
    let stop: StopSwitch
    let due: Duration
  }

  private struct State {
    var records: [Record] = []
    var running: [Int: Running] = [:]
    /// The searches under way, by the index of the record.
    var searches: [Int: Search] = [:]
  }

  private let state = Mutex(State())
  private let time: ManualTime
  private let seed: UInt64
  /// The percentage of attempts that fail.
  private let failures: Int
  /// Whether every attempt ends at once.
  private let isQuick: Bool
  /// The prefix of addresses that does not make a step a different one.
  private let prefix: String

  init(
    time: ManualTime, seed: UInt64, failures: Int, isQuick: Bool = false, prefix: String = ""
  ) {
    (self.time, self.seed, self.failures, self.prefix) = (time, seed, failures, prefix)
    self.isQuick = isQuick
  }

  var now: Duration { time.now }
  var records: [Record] { state.withLock { $0.records } }
  var runningCount: Int { state.withLock { $0.running.count } }
  var searchCount: Int { state.withLock { $0.searches.count } }

  func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    let promise = Promise<AttemptEnd, Never>(ifDropped: .success(AttemptEnd(.stopped(nil))))
    let now = time.now
    var random = random(of: attempt)
    var (length, status) = script(&random)
    if attempt.resolved.command?.service != nil {
      (_, length, status) = serviceScript(&random)
    }
    if let limit = attempt.resolved.timeout, limit <= length {
      (length, status) = (limit, .timedOut(after: limit, .signal("TERM")))
    }
    state.withLock { state in
      let record = state.records.count
      state.records.append(
        Record(
          address: attempt.address, number: attempt.number, startedAt: now,
          timeout: attempt.resolved.timeout, environment: attempt.resolved.environment))
      state.running[record] = Running(
        attempt: attempt, promise: promise, record: record, due: now + length, status: status,
        random: random)
    }
    return promise.future
  }

  func probe(
    _ attempt: Attempt, for service: Command.Service, stop: StopSwitch
  ) -> Future<Bool, Never> {
    var random = random(of: attempt)
    _ = script(&random)
    let delay = serviceScript(&random).ready
    let promise = Promise<Bool, Never>(ifDropped: .success(false))
    state.withLock { state in
      // Its attempt is executed next.
      state.searches[state.records.count] = Search(
        promise: promise, stop: stop, due: time.now + delay)
    }
    return promise.future
  }

  private func random(of attempt: Attempt) -> SeededGenerator {
    // The same attempt may be made again, in another attempt of its enclosing group.
    let earlier = records.count { $0.address == attempt.address }
    return SeededGenerator(
      seed: seed ^ String(attempt.address.text.dropFirst(prefix.count)).hash ^ UInt64(earlier))
  }

  /// Later than any run ends.
  private static let never = Duration.seconds(1_000_000)

  /// The times from the start of a service until it is ready and until it ends, and how it ends.
  private func serviceScript(
    _ random: inout SeededGenerator
  ) -> (ready: Duration, end: Duration, status: AttemptEnd.Status) {
    let ready = isQuick ? 0 : [0, 0, 1, 2, 3, 5, 8].randomElement(using: &random)!
    let end = Int.random(in: 0...20, using: &random)
    let status: AttemptEnd.Status =
      [.ended(.code(0)), .ended(.code(1)), .ended(.signal("SEGV"))].randomElement(using: &random)!
    guard Int.random(in: 0..<100, using: &random) < failures else {
      return (.seconds(ready), ScriptedWorld.never, status)
    }
    let isSilent = Int.random(in: 0..<4, using: &random) == 0
    return (isSilent ? ScriptedWorld.never : .seconds(ready), .seconds(end), status)
  }

  private func script(_ random: inout SeededGenerator) -> (Duration, AttemptEnd.Status) {
    let length = [0, 1, 1, 2, 3, 5, 8, 13].randomElement(using: &random)!
    let status: AttemptEnd.Status =
      if Int.random(in: 0..<100, using: &random) >= failures {
        .ended(.code(0))
      } else {
        [.ended(.code(1)), .ended(.code(2)), .ended(.signal("SEGV"))].randomElement(
          using: &random)!
      }
    return (isQuick ? .zero : .seconds(length), status)
  }

  /// Lets those attempts react that were asked to stop since the last call.
  func noticeStops() {
    let now = time.now
    let given = state.withLock { state -> [Search] in
      let given = state.searches.filter { $0.value.stop.level > .none }.sorted { $0.key < $1.key }
      for search in given { state.searches[search.key] = nil }
      return given.map(\.value)
    }
    for search in given { search.promise.succeed(false) }
    state.withLock { state in
      for record in state.running.keys.sorted() {
        guard var running = state.running[record], running.attempt.stop.level > running.level
        else { continue }
        running.level = running.attempt.stop.level
        state.records[record].stoppedAt = state.records[record].stoppedAt ?? now
        running.react(at: now)
        state.running[record] = running
      }
    }
  }

  /// The time at which the next attempt ends.
  var nextDue: Duration? {
    state.withLock { state in
      (state.running.values.map(\.due) + state.searches.values.map(\.due)).min()
    }
  }

  /// Finds a service ready whose time it is.
  ///
  /// - Returns: Whether there is one.
  private func findOneReady(at now: Duration) -> Bool {
    let found = state.withLock { state -> Search? in
      let due = state.searches.filter { $0.value.due <= now }.keys.min()
      guard let record = due, let search = state.searches.removeValue(forKey: record) else {
        return nil
      }
      state.records[record].readyAt = now
      return search
    }
    found?.promise.succeed(true)
    return found != nil
  }

  /// Ends one of the attempts that are due, or finds a service ready.
  func endOne(at now: Duration, using random: inout SeededGenerator) {
    let hasSearches = state.withLock { !$0.searches.isEmpty }
    if hasSearches, Bool.random(using: &random), findOneReady(at: now) { return }
    let isDue = state.withLock { $0.running.values.contains { $0.due <= now } }
    guard isDue else {
      _ = findOneReady(at: now)
      return
    }
    let ended = state.withLock { state -> Running? in
      let due = state.running.values.filter { $0.due <= now }.map(\.record).sorted()
      guard let record = due.randomElement(using: &random),
        let running = state.running.removeValue(forKey: record)
      else { return nil }
      state.records[record].endedAt = now
      state.records[record].status = running.status
      return running
    }
    ended?.promise.succeed(AttemptEnd(ended!.status))
  }
}

extension ScriptedWorld.Running {
  /// Reacts to a request to stop: most attempts end soon, some use the grace period, or run to their own end if that
  /// comes first.
  fileprivate mutating func react(at now: Duration) {
    if level == .now {
      (due, status) = (now, .stopped(.signal("KILL")))
      return
    }
    let isDeaf = Int.random(in: 0..<6, using: &random) == 0
    let reaction = isDeaf ? 10 : Int.random(in: 0...3, using: &random)
    guard now + .seconds(reaction) < due else { return }
    (due, status) = (now + .seconds(reaction), .stopped(.signal(isDeaf ? "KILL" : "TERM")))
  }
}

extension String {
  /// FNV-1a: unlike `hashValue`, the same in every process.
  fileprivate var hash: UInt64 {
    utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
