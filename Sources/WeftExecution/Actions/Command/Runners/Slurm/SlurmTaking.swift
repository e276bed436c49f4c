import WeftEvents
import WeftPlatform

/// The file by which a directory tells that the end of its job was taken as that of an attempt.
///
/// An engine that is killed may have recorded that end or not, and may have recorded the start of the next attempt, or of
/// the step in the next attempt of a group, before it made the directory for it.
struct SlurmTaking: Hashable {
  static let name = "taken"

  let time: WallTime
  let attempt: Int

  init(attempt: Int) {
    time = WallTime(nanoseconds: WallClock.now.nanoseconds)
    self.attempt = attempt
  }

  /// `nil` if it is not such a file.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count == 2, let time = Int64(words[0]), let attempt = Int(words[1]) else {
      return nil
    }
    self.time = WallTime(nanoseconds: time)
    self.attempt = attempt
  }

  /// A file that cannot be written is as if the engine had been killed before.
  func keep(in directory: String) {
    try? Descriptor.creating("\(directory)/\(Self.name)", .orEmptied)
      .writeAll("\(time.nanoseconds) \(attempt)")
  }

  /// Whether the attempt that was running when the last engine was killed is a later one.
  func isBefore(_ step: RecordedStep) -> Bool {
    guard case .started(let last) = step.state else { return false }
    return attempt != last || step.startedAt.map { time.nanoseconds < $0.nanoseconds } == true
  }
}
