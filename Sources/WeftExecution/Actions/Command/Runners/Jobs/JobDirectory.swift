import WeftEncoding
import WeftEvents
import WeftPlanning
import WeftPlatform

/// The directory of one job, in that of the run. The nodes and this machine share it.
///
/// The job makes `started` before anything else: one that cannot make it does nothing, so that no program runs twice,
/// however often it was submitted. The engine makes it for a job that must not begin.
struct JobDirectory: Hashable {
  let path: String

  static let started = "started"
  static let outputs = "output"
  static let end = "end"
  static let progress = "progress"
  private static let claimed = "claimed"
  private static let taken = "taken"
  private static let interrupted = "interrupted"
  private static let submitted = "job"

  static func name(of stream: OutputStream) -> String { stream == .output ? "out" : "err" }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  // MARK: Marks

  var hasBegun: Bool { FileSystem.isDirectory(file(Self.started)) }

  /// The time at which its job has begun, by the monotonic clock; `nil` if it has not.
  ///
  /// A shared file system may have a clock of its own.
  ///
  /// - Parameter earlier: A time at which it had not begun.
  func beginning(noticedAt now: Duration, after earlier: Duration) -> Duration? {
    guard let stamp = try? FileStamp(at: file(Self.started)), stamp.kind == .directory else {
      return nil
    }
    let age = Duration.nanoseconds(WallClock.now.nanoseconds - stamp.modified)
    return min(now, max(earlier, now - age))
  }

  /// Keeps its job from ever running its program, unless it has begun.
  ///
  /// - Returns: Whether it will never run it: also if an engine has claimed it before, or its directory is gone.
  func claim() -> Bool {
    if hasBegun { return FileSystem.isDirectory(file(Self.claimed)) }
    // Noted first, so that the next engine recognizes the claim of one that was killed after it.
    _ = mark(Self.claimed)
    if mark(Self.started) || !hasBegun { return true }
    Directory.removeTree(file(Self.claimed))
    return false
  }

  /// Notes that its job is about to be ended. Without it, an engine that resumes the run takes that for a failure of the
  /// job.
  func mark(stop cause: StopCause) { _ = mark(Self.name(of: cause)) }

  /// The cause for which an engine has ended its job; `nil` for none.
  var stop: StopCause? {
    [.cancelled, .timeout, .stall].first { FileSystem.isDirectory(file(Self.name(of: $0))) }
  }

  private static func name(of cause: StopCause) -> String {
    switch cause {
    case .cancelled: "cancelled"
    case .timeout: "timeout"
    case .stall: "stall"
    }
  }

  /// Whether something, perhaps no engine, has asked its job to end.
  var isInterrupted: Bool { FileSystem.isDirectory(file(Self.interrupted)) }

  private func mark(_ name: String) -> Bool {
    (try? FileSystem.makeDirectory(file(name), mode: 0o700)) != nil
  }

  // MARK: Files

  func text(_ name: String, atMost count: Int = 4096) -> String? {
    Self.text(of: file(name), atMost: count)
  }

  static func text(of path: String, atMost count: Int = 4096) -> String? {
    guard let file = try? Descriptor.opened(regularFile: path).file,
      let bytes = try? file.piece(at: 0, atMost: count)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func write(_ text: String, to path: String) throws(WriteError) {
    let file: Descriptor
    do { file = try Descriptor.creating(path, .orEmptied) } catch { throw WriteError(error) }
    try file.writeAll(text)
  }

  /// The end of its program, once it is there.
  var end: RemoteEnd? { text(Self.end, atMost: 256).flatMap(RemoteEnd.init) }

  // MARK: Submissions

  /// The last submission: which job, and of which program.
  struct Submission: Hashable {
    var key: JobKey
    /// Tells programs apart.
    var identity: String
    /// The bytes in the file of the step's log before its output.
    var logBytes: Int
    /// The kind of scheduler; `nil` if an older version of the program submitted it.
    var scheduler: JobKind?
  }

  /// Writes it where an engine that resumes the run finds it.
  func keep(_ submission: Submission) throws(WriteError) {
    let key = submission.key
    let scheduler = submission.scheduler?.rawValue ?? ""
    try Self.write(
      "\(key.word) \(key.index) \(submission.identity) \(submission.logBytes) \(scheduler)",
      to: file(Self.submitted))
  }

  var submission: Submission? {
    let words = text(Self.submitted)?.split(separator: " ") ?? []
    guard 4...5 ~= words.count, let index = Int(words[1]), let bytes = Int(words[3]) else {
      return nil
    }
    return Submission(
      key: JobKey(word: String(words[0]), index: index), identity: String(words[2]),
      logBytes: bytes,
      scheduler: words.count > 4 ? JobKind(rawValue: String(words[4])) : nil)
  }

  // MARK: Taken ends

  /// Notes that the end of its job was taken as that of an attempt. A file that cannot be written is as if the engine had
  /// been killed before.
  func keep(_ taking: JobTaking) { try? Self.write(taking.text, to: file(Self.taken)) }

  var taking: JobTaking? { text(Self.taken).flatMap(JobTaking.init) }
}

/// The directories of the jobs of a run: for each attempt the hash of its address, the number of the engine, and a
/// number.
struct JobFolder: Hashable {
  let path: String
  /// The number of times the run was resumed before this engine.
  let resumption: Int

  /// `nil` if the run has no directory.
  init?(of configuration: EngineConfiguration) {
    guard let directory = configuration.journal.runDirectory else { return nil }
    path = "\(directory)/jobs"
    resumption = configuration.journal.recorded.map { $0.resumptions + 1 } ?? 0
  }

  /// Makes the directory for another job of a step.
  ///
  /// The number of the engine is in its name, so that a job that escaped a cancellation never writes into a later one.
  func makeDirectory(of address: StepAddress) throws(SystemError) -> JobDirectory {
    try FileSystem.makeDirectories(path, mode: 0o700)
    var number = 1
    while true {
      let directory = place(of: address, resumption, number)
      if FileSystem.isDirectory(directory.path) {
        number += 1
        continue
      }
      try FileSystem.makeDirectory(directory.path, mode: 0o700)
      return directory
    }
  }

  /// The last directory that earlier engines have made for a step.
  func latest(of address: StepAddress) -> JobDirectory? {
    for engine in (0..<resumption).reversed() {
      var latest: JobDirectory?
      var number = 1
      while true {
        let directory = place(of: address, engine, number)
        guard FileSystem.isDirectory(directory.path) else { break }
        latest = directory
        number += 1
      }
      if let latest { return latest }
    }
    return nil
  }

  private func place(of address: StepAddress, _ engine: Int, _ number: Int) -> JobDirectory {
    let hash = SHA256.text(of: SHA256.digest(of: address.text.utf8)).prefix(24)
    return JobDirectory(path: "\(path)/\(hash).\(engine).\(number)")
  }

  /// The file for messages of the scheduler about a batch.
  func log(of word: String) -> String { "\(path)/\(word).log" }

  /// The file with the number that the scheduler gave a batch.
  func number(of word: String) -> String { "\(path)/\(word).number" }
}

/// The fact that the end of a job was taken as that of an attempt.
///
/// An engine that is killed may have recorded that end or not, and may have recorded the start of the next attempt, or of
/// the step in the next attempt of a group, before it made the directory for it.
struct JobTaking: Hashable {
  let time: WallTime
  let attempt: Int

  init(attempt: Int) {
    time = .now
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
