import Synchronization
import WeftEvents
import WeftPlatform

/// Follows the files `$WEFT_PROGRESS` of a run's programs.
///
/// Each attempt gets the path of a file that does not exist: a program that reports no progress costs one look at
/// its end. While programs run, a timer looks ten times a second for files, all at once, and reads the ends of those that
/// have changed; that is also the limit of events. A FIFO would deliver each line at once, but costs each program a
/// handful of system calls, and blocks one that writes after its reader is gone.
final class ProgressFiles: Sendable {
  /// The file of one attempt.
  final class File: Sendable {
    fileprivate struct State {
      var stamp: FileStamp?
      var published: StepProgress?
      var freedBytes = 0
      var isClosed = false
    }

    fileprivate let name: String
    fileprivate let folder: FollowedFolder
    fileprivate let attempt: Attempt
    fileprivate let state = Mutex(State())
    var path: String { "\(folder.path)/\(name)" }

    init(_ name: String, in folder: FollowedFolder, of attempt: Attempt) {
      (self.name, self.folder, self.attempt) = (name, folder, attempt)
    }
  }

  private struct State {
    var folder: FollowedFolder?
    /// Whether the folder cannot be created.
    var isUnavailable = false
    var files: [String: File] = [:]
    var count = 0
    var isTimerSet = false
  }

  private let state = Mutex(State())
  /// `nil` if files are only read when their programs have ended.
  private let time: (any TimeSource)?

  /// The time between two looks.
  static let interval = Duration.milliseconds(100)
  /// The size from which the disk space of what was read is given back.
  fileprivate static let keptBytes = 1 << 20

  init(time: (any TimeSource)?) {
    self.time = time
  }

  /// Begins to follow the file of an attempt.
  ///
  /// - Returns: `nil` if there is no place for such a file; the attempt then reports no progress.
  func begin(_ attempt: Attempt) -> File? {
    let (file, setsTimer) = state.withLock { state -> (File?, Bool) in
      guard let folder = folder(for: attempt, &state) else { return (nil, false) }
      state.count += 1
      let file = File(String(state.count), in: folder, of: attempt)
      state.files[file.name] = file
      defer { state.isTimerSet = true }
      return (file, !state.isTimerSet)
    }
    if setsTimer { setTimer() }
    return file
  }

  private func folder(for attempt: Attempt, _ state: inout State) -> FollowedFolder? {
    if let folder = state.folder { return folder }
    if state.isUnavailable { return nil }
    state.folder = try? attempt.folder.makeProgressFolder()
    state.isUnavailable = state.folder == nil
    return state.folder
  }

  /// Reads the file for the last time, and removes it. The attempt's program has ended, and its end is not yet
  /// reported.
  func end(_ file: File?) {
    guard let file else { return }
    state.withLock { _ = $0.files.removeValue(forKey: file.name) }
    file.look(isFinal: true)
  }

  private func setTimer() {
    _ = time?.schedule(after: ProgressFiles.interval) { [weak self] in self?.look() }
  }

  private func look() {
    guard let folder = state.withLock({ $0.folder }) else { return }
    for name in folder.names { state.withLock { $0.files[name] }?.look(isFinal: false) }
    let goesOn = state.withLock { state in
      state.isTimerSet = !state.files.isEmpty
      return state.isTimerSet
    }
    if goesOn { setTimer() }
  }
}

extension ProgressFiles.File {
  /// Publishes what the file says if it has changed.
  ///
  /// The lock is held meanwhile, so that nothing is published after the last look.
  func look(isFinal: Bool) {
    let hasOtherLines = state.withLock { state in
      guard !state.isClosed else { return false }
      state.isClosed = isFinal
      return look(&state)
    }
    if hasOtherLines { attempt.warnings.reportOnce(.progressIgnored(of: attempt.address)) }
  }

  /// - Returns: Whether the file has other lines than those that tell the progress.
  private func look(_ state: inout State) -> Bool {
    let known = state.isClosed ? nil : state.stamp
    defer { if state.isClosed, state.stamp != nil { folder.remove(name) } }
    switch folder.ending(of: name, atMost: ProgressText.endingBytes, unless: known) {
    case .nothing: return false
    case .unreadable:
      // Whatever it is, it is removed with the folder.
      return true
    case .changed(let ending):
      state.stamp = ending.stamp
      let text = ProgressText(
        masked(ending.bytes), isWhole: ending.isWhole, isFinal: state.isClosed)
      if let progress = text.latest.map(shown), progress != state.published {
        state.published = progress
        attempt.publish(progress)
      }
      freeSpace(of: Int(ending.stamp.size), &state)
      return text.hasOtherLines
    }
  }

  private func masked(_ bytes: [UInt8]) -> [UInt8] {
    guard attempt.secrets.hidesAnything else { return bytes }
    return bytes.withUnsafeBytes { attempt.secrets.mask.masked($0) }
  }

  /// A text may contain a secret output of the step, which is known only at its end.
  private func shown(_ progress: StepProgress) -> StepProgress {
    guard attempt.output.isBuffered else { return progress }
    return StepProgress(progress.done, of: progress.total)
  }

  private func freeSpace(of size: Int, _ state: inout State) {
    guard !state.isClosed, size - state.freedBytes > ProgressFiles.keptBytes else { return }
    state.freedBytes = size - ProgressText.endingBytes
    folder.discardStart(of: name, bytes: state.freedBytes)
  }
}

/// The progress that the end of a file `$WEFT_PROGRESS` reports: its last line of the form `n/m text`.
///
/// Both ways of writing are understood: appending lines, and replacing the file by its latest line. A line counts once
/// it has a newline, or once its writer has ended.
struct ProgressText {
  /// The progress of the last valid line; `nil` if there is none.
  private(set) var latest: StepProgress?
  /// Whether there is a line of another form.
  private(set) var hasOtherLines = false

  /// The bytes at the end of a file that are looked at.
  static let endingBytes = 16 << 10
  /// The longest line of which more than the beginning could be wanted.
  private static let lineBytes = 4 << 10

  /// - Parameters:
  ///   - ending: The end of the file.
  ///   - isWhole: Whether it is the whole file; otherwise its first line is incomplete.
  ///   - isFinal: Whether nothing more will be written, so that a last line needs no newline.
  init(_ ending: [UInt8], isWhole: Bool, isFinal: Bool) {
    let newline = UInt8(ascii: "\n")
    var lines = ending.split(separator: newline, omittingEmptySubsequences: false)[...]
    if !isFinal { lines = lines.dropLast() }
    if !isWhole {
      // A line longer than what is looked at is none of the form.
      hasOtherLines = lines.count <= 1
      lines = lines.dropFirst()
    }
    take(lines)
  }

  private mutating func take(_ lines: ArraySlice<ArraySlice<UInt8>>) {
    for line in lines.reversed() {
      let isEmpty = line.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: " ") }
      if isEmpty { continue }
      guard let progress = ProgressText.progress(in: line) else {
        hasOtherLines = true
        continue
      }
      latest = latest ?? progress
      if hasOtherLines { return }
    }
  }

  /// Parses `n/m text`: decimal numbers, `m` at least 1; leading spaces are allowed.
  static func progress(in line: ArraySlice<UInt8>) -> StepProgress? {
    var rest = line.prefix(lineBytes).drop { $0 == UInt8(ascii: " ") }
    guard let done = number(&rest), rest.popFirst() == UInt8(ascii: "/"),
      let total = number(&rest), total > 0
    else { return nil }
    guard let next = rest.first else { return StepProgress(done, of: total) }
    guard isSpace(next) else { return nil }
    rest = rest.drop(while: isSpace)
    var text = Array(rest)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return StepProgress(done, of: total, text: String(decoding: text, as: UTF8.self))
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }

  /// Takes a decimal number of at most 2⁵³, which all readers of JSON know exactly.
  private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
    let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    guard !digits.isEmpty else { return nil }
    rest = rest.dropFirst(digits.count)
    var value = 0
    for digit in digits {
      value = value * 10 + Int(digit - UInt8(ascii: "0"))
      if value > 1 << 53 { return nil }
    }
    return value
  }
}
