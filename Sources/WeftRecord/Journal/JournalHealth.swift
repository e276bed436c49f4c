import Synchronization
import WeftExecution
import WeftPlatform

/// Decides what may still be written after something could not be.
struct JournalHealth: Sendable {
  private enum Phase {
    case sound
    /// There is no room: nothing may begin, and what has begun is told as far as it goes.
    case full(RecordFault)
    /// What has been written may not be there any more: nothing is added to it.
    case lost(RecordFault)
  }

  private var phase = Phase.sound

  /// The first of all.
  var fault: RecordFault? {
    switch phase {
    case .sound: nil
    case .full(let fault), .lost(let fault): fault
    }
  }

  /// Why the record is not to be written at all.
  func refusal(of kind: RunRecord.Kind) -> RecordFault? {
    switch phase {
    case .sound: nil
    case .full(let fault): kind.announcesAct ? fault : nil
    case .lost(let fault): fault
    }
  }

  /// A record could not be written; nothing of it is there.
  mutating func failed(_ error: SystemError, needing bytes: Int, at place: String) {
    switch (phase, error) {
    case (.sound, .noSpace), (.sound, .overQuota), (.sound, .fileTooBig):
      phase = .full(
        RecordFault(
          message: "the record of the run cannot be written: \(error): it needs \(bytes) bytes on"
            + " \"\(place)\"",
          help: "make room there, and resume the run: nothing that has ended is lost"))
    case (.full, .noSpace), (.full, .overQuota), (.full, .fileTooBig): break
    case (.sound, _):
      phase = .lost(
        RecordFault(message: "the record of the run cannot be written: \"\(place)\": \(error)"))
    case (.full(let first), _): phase = .lost(first)
    case (.lost, _): break
    }
  }

  /// What was written could not be made safe.
  mutating func lost(_ error: SystemError, at place: String) {
    if case .lost = phase { return }
    phase = .lost(
      RecordFault(
        message: "what was written of the record of the run may be lost: \"\(place)\": \(error)"))
  }
}

/// How it is with a journal, for all who write to it and make it safe; and whom to tell if it is not well.
final class JournalCondition: Sendable {
  private struct State {
    var health = JournalHealth()
    var whenLost: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let place: String

  init(of place: String) {
    self.place = place
  }

  var fault: RecordFault? { state.withLock { $0.health.fault } }

  func refusal(of kind: RunRecord.Kind) -> RecordFault? {
    state.withLock { $0.health.refusal(of: kind) }
  }

  /// Nobody is told before ``tell()``: who calls this may hold a lock.
  func noteFailure(_ error: SystemError, needing bytes: Int) {
    state.withLock { $0.health.failed(error, needing: bytes, at: place) }
  }

  func noteLoss(_ error: SystemError) {
    state.withLock { $0.health.lost(error, at: place) }
    tell()
  }

  func whenLost(_ act: @escaping @Sendable () -> Void) {
    state.withLock { $0.whenLost = act }
    tell()
  }

  /// Calls who wants to know, once, if there is something to tell. No lock is to be held.
  func tell() {
    let act = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.health.fault != nil else { return nil }
      defer { state.whenLost = nil }
      return state.whenLost
    }
    act?()
  }
}
