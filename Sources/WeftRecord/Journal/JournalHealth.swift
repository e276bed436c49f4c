import Synchronization
import WeftEvents
import WeftExecution
import WeftPlatform

/// Decides which records may still be written after a failure.
struct JournalHealth: Sendable {
  private enum Phase {
    case sound
    /// The disk is full: nothing may start, and running steps are recorded as far as possible.
    case full(RecordError)
    /// Earlier records may be lost: nothing more is written.
    case lost(RecordError)
  }

  private var phase = Phase.sound

  /// The first failure.
  var fault: RecordError? {
    switch phase {
    case .sound: nil
    case .full(let fault), .lost(let fault): fault
    }
  }

  /// Returns the reason not to write the record at all.
  func refusal(of kind: RunRecord.Kind) -> RecordError? {
    switch phase {
    case .sound: nil
    case .full(let fault): kind.announcesAct ? fault : nil
    case .lost(let fault): fault
    }
  }

  /// Notes that a record could not be written, not even partially.
  mutating func failed(_ error: SystemError, needing bytes: Int, at place: String) {
    switch error {
    case .noSpace, .overQuota, .fileTooBig:
      failed(
        RecordError(
          message: "the journal of the run cannot be written: \(error): it needs \(bytes) bytes on"
            + " \"\(place)\"",
          help: "free some space there, and resume the run: finished steps are not lost"),
        isOfSpace: true)
    default:
      failed(
        RecordError(message: "the journal of the run cannot be written: \"\(place)\": \(error)"),
        isOfSpace: false)
    }
  }

  mutating func failed(_ fault: RecordError, isOfSpace: Bool) {
    switch phase {
    case .sound: phase = isOfSpace ? .full(fault) : .lost(fault)
    case .full(let first): if !isOfSpace { phase = .lost(first) }
    case .lost: break
    }
  }

  /// Notes that records could not be made durable.
  mutating func lost(_ error: SystemError, at place: String) {
    if case .lost = phase { return }
    phase = .lost(
      RecordError(
        message: "what was written to the journal of the run may be lost: \"\(place)\": \(error)"))
  }
}

/// The condition of a journal, shared by everything that writes it or makes it durable. Notifies one handler of a
/// failure.
final class JournalCondition: Sendable {
  private struct State {
    var health = JournalHealth()
    var onLost: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let place: String

  init(of place: String) {
    self.place = place
  }

  var fault: RecordError? { state.withLock { $0.health.fault } }

  func refusal(of kind: RunRecord.Kind) -> RecordError? {
    state.withLock { $0.health.refusal(of: kind) }
  }

  /// Does not call the handler, because the caller may hold a lock; ``report()`` does.
  func recordFailure(_ error: SystemError, needing bytes: Int) {
    state.withLock { $0.health.failed(error, needing: bytes, at: place) }
  }

  func recordFailure(_ fault: RecordError, isOfSpace: Bool) {
    state.withLock { $0.health.failed(fault, isOfSpace: isOfSpace) }
  }

  func recordLoss(_ error: SystemError) {
    state.withLock { $0.health.lost(error, at: place) }
    report()
  }

  func onLost(_ act: @escaping @Sendable () -> Void) {
    state.withLock { $0.onLost = act }
    report()
  }

  /// Calls the handler if there is a failure, at most once. The caller must not hold a lock.
  func report() {
    let act = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.health.fault != nil else { return nil }
      defer { state.onLost = nil }
      return state.onLost
    }
    act?()
  }
}
