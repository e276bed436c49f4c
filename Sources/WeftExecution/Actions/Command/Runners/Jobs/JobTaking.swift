import WeftEvents
import WeftPlatform

/// The fact that the end of a job was taken as that of an attempt.
///
/// An engine that is killed may have recorded that end or not, and may have recorded the start of the next attempt, or of
/// the step in the next attempt of a group, before it made the directory for it.
struct JobTaking: Hashable {
  let time: WallTime
  let attempt: Int

  init(attempt: Int) {
    time = WallTime(nanoseconds: WallClock.now.nanoseconds)
    self.attempt = attempt
  }

  /// As it is kept in a file.
  var text: String { "\(time.nanoseconds) \(attempt)" }

  /// `nil` if it is no such text.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, let time = Int64(words[0]), let attempt = Int(words[1]) else {
      return nil
    }
    self.time = WallTime(nanoseconds: time)
    self.attempt = attempt
  }

  /// Whether the attempt that was running when the last engine was killed is a later one.
  func isBefore(_ step: RecordedStep) -> Bool {
    guard case .started(let last) = step.state else { return false }
    return attempt != last || step.startedAt.map { time.nanoseconds < $0.nanoseconds } == true
  }
}
