import Synchronization
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

  private struct State {
    var records: [Record] = []
    var running: [Int: Running] = [:]
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

  func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    let promise = Promise<AttemptEnd, Never>(ifDropped: .success(AttemptEnd(.stopped(nil))))
    let now = time.now
    // The same attempt may be made again, in another attempt of its enclosing group.
    let earlier = records.count { $0.address == attempt.address }
    var random = SeededGenerator(
      seed: seed ^ String(attempt.address.text.dropFirst(prefix.count)).hash ^ UInt64(earlier))
    var (length, status) = script(&random)
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
  var nextDue: Duration? { state.withLock { $0.running.values.map(\.due).min() } }

  /// Ends one of the attempts that are due.
  func endOne(at now: Duration, using random: inout SeededGenerator) {
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
