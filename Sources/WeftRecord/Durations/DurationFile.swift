import WeftDefinition
import WeftDiagnostics
package import WeftEvents
public import WeftPlanning
import WeftPlatform

/// The file format of recorded durations: a line for each step, and a checksum.
///
///     1 1250000 1300000 1180000 build
///     40 20000 checks.lint
///     crc32c 9f3a01c7
///
/// A line contains the number of executions, the microseconds of recent ones, the newest last, and the step's
/// address. The file is derived from runs, so a damaged one is treated as missing.
package enum DurationFile {
  package static func bytes(of history: DurationHistory) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(history.entries.count * 48 + 16)
    for entry in history.entries {
      bytes += "\(entry.step.times)".utf8
      for duration in entry.step.recent {
        bytes.append(space)
        bytes += "\(duration)".utf8
      }
      bytes.append(space)
      bytes += entry.address.utf8
      bytes.append(newline)
    }
    SealedText.seal(&bytes)
    return bytes
  }

  /// - Returns: `nil` if the bytes are damaged or in another format.
  package static func history(in bytes: [UInt8]) -> DurationHistory? {
    guard var rest = SealedText.text(in: bytes) else { return nil }
    var entries: [DurationHistory.Entry] = []
    while !rest.isEmpty {
      guard let entry = entry(from: &rest) else { return nil }
      entries.append(entry)
    }
    return DurationHistory(entries)
  }

  /// Parses one line.
  private static func entry(from rest: inout ArraySlice<UInt8>) -> DurationHistory.Entry? {
    guard let times = rest.takeNumber() else { return nil }
    var recent: [Int] = []
    while recent.count < MeasuredStep.recentLimit, let duration = rest.takeNumber() {
      recent.append(duration)
    }
    guard let address = rest.takeLine(), let step = MeasuredStep(recent: recent, times: times)
    else { return nil }
    return DurationHistory.Entry(address, step)
  }

  private static let space = UInt8(ascii: " ")
  private static let newline = UInt8(ascii: "\n")
}

extension ArraySlice<UInt8> {
  /// Consumes digits and the space after them; nothing of a name that begins with digits.
  ///
  /// - Returns: `nil` unless there are 1 to 18 digits and a space.
  fileprivate mutating func takeNumber() -> Int? {
    var value = 0
    var index = startIndex
    while index < endIndex, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[index]) {
      guard index - startIndex < 18 else { return nil }
      value = value * 10 + Int(self[index] - UInt8(ascii: "0"))
      index += 1
    }
    guard index > startIndex, index < endIndex, self[index] == UInt8(ascii: " ") else { return nil }
    self = self[(index + 1)...]
    return value
  }

  /// Consumes a line of UTF-8 with its end.
  fileprivate mutating func takeLine() -> String? {
    guard let end = firstIndex(of: UInt8(ascii: "\n")),
      let line = String(validating: self[..<end], as: UTF8.self)
    else { return nil }
    self = self[(end + 1)...]
    return line
  }
}

/// Identifies a workflow across runs: by the path of its file, or by its name if it has no file.
///
/// A modified file is the same workflow.
public struct WorkflowKey: Sendable, Hashable, CustomStringConvertible {
  enum Place: Sendable, Hashable {
    /// An absolute path without `.` and `..`.
    case file(String)
    case name(String)
  }

  let place: Place

  /// - Returns: `nil` for a workflow with neither file nor name, or read from standard input without a name.
  public init?(_ plan: Plan) {
    self.init(
      file: plan.workflow.source.value?.path, name: plan.workflow.name,
      below: try? FileSystem.currentDirectory())
  }

  /// The workflow of a recorded run.
  package init?(_ opening: RecordOpening) {
    self.init(file: opening.file, name: opening.workflow, below: opening.directory)
  }

  /// - Parameter directory: The base of a relative path.
  init?(file: String?, name: String?, below directory: String?) {
    if let file, WorkflowKey.isPath(file), let path = WorkflowKey.path(file, below: directory) {
      place = .file(path)
    } else if let name {
      place = .name(name)
    } else {
      return nil
    }
  }

  /// The unique text form: `file /srv/app/release.json`.
  public var description: String {
    switch place {
    case .file(let path): "file \(path)"
    case .name(let name): "name \(name)"
    }
  }

  /// Returns the text form for stores in a directory that moves with its surroundings, as a project moves with its
  /// `.weft`: files below its parent directory are identified by their relative path.
  func text(storedIn directory: String) -> String {
    guard case .file(let path) = place,
      let around = WorkflowKey.path(directory + "/..", below: try? FileSystem.currentDirectory()),
      path.hasPrefix(around == "/" ? "/" : around + "/")
    else { return description }
    return "below \(path.dropFirst(around == "/" ? 1 : around.utf8.count + 1))"
  }

  /// Standard input and pipes made by a shell cannot be found again.
  private static func isPath(_ file: String) -> Bool {
    !file.isEmpty && file != "-" && file != "<stdin>" && !file.hasPrefix("/dev/")
      && !file.hasPrefix("/proc/")
  }

  /// Returns the absolute path, resolving `.` and `..` textually; `nil` if `directory` is needed but unknown.
  static func path(_ path: String, below directory: String?) -> String? {
    guard let whole = path.hasPrefix("/") ? path : directory.map({ "\($0)/\(path)" }) else {
      return nil
    }
    var names: [Substring] = []
    for name in whole.split(separator: "/") {
      switch name {
      case ".": continue
      case "..": _ = names.popLast()
      default: names.append(name)
      }
    }
    return "/" + names.joined(separator: "/")
  }
}
