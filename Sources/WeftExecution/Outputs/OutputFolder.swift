import Synchronization
import WeftDefinition
package import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlanning
import WeftPlatform

/// The files to which steps write their outputs: in a private directory of the run, each new and empty for its
/// attempt, and removed after it. Also the place of the files in which they report their progress, and of the engine's own
/// sockets and FIFOs.
final class OutputFolder: Sendable {
  private let run: RunID
  private let path = Mutex<String?>(nil)

  init(of run: RunID) {
    self.run = run
  }

  /// Creates a file for one attempt of a step.
  func makeFile(forStep index: Int, attempt: Int) throws(SystemError) -> String {
    let file = "\(try folder())/\(index + 1).\(attempt)"
    _ = try Descriptor.creating(file, .onlyNew, isPrivate: true)
    return file
  }

  /// Creates a directory in which programs report their progress; once for each run.
  func makeProgressFolder() throws(SystemError) -> FollowedFolder {
    try FollowedFolder(creating: "\(try folder())/progress")
  }

  /// A path for a socket or a FIFO of the engine's own.
  func ownPath(_ name: String) throws(SystemError) -> String { "\(try folder())/\(name)" }

  /// Removes the directory with everything in it, including what steps put beside their files.
  func close() {
    path.withLock { path in
      if let path { Directory.removeTree(path) }
      path = nil
    }
  }

  fileprivate static func prefix(of run: RunID) -> String { "weft-\(run.text)-" }

  private func folder() throws(SystemError) -> String {
    try path.withLock { (path: inout sending String?) throws(SystemError) -> String in
      if let path { return path }
      let random = String(UInt64.random(in: 0 ... .max), radix: 36)
      let made = "\(FileSystem.temporaryDirectory)/\(OutputFolder.prefix(of: run))\(random)"
      try FileSystem.makeDirectory(made, mode: 0o700)
      path = made
      return made
    }
  }
}

/// The directories of temporary files that killed engines of a run have left behind.
package enum TemporaryRemains {
  /// The runs that the names of such directories mention; their engines may be alive.
  package static func runs() -> Set<RunID> {
    guard let directory = try? Directory(FileSystem.temporaryDirectory) else { return [] }
    let runs = directory.names(in: ConfinedPath()).compactMap { name -> RunID? in
      guard name.hasPrefix("weft-"), let end = name.lastIndex(of: "-"),
        let run = RunID(validating: String(name[..<end].dropFirst("weft-".count)))
      else { return nil }
      return run
    }
    return Set(runs)
  }

  /// Removes them. The caller must have the run, and no program of its killed engines may be alive.
  package static func remove(of run: RunID) {
    let place = FileSystem.temporaryDirectory
    guard let directory = try? Directory(place) else { return }
    for name in directory.names(in: ConfinedPath())
    where name.hasPrefix(OutputFolder.prefix(of: run)) {
      let path = "\(place)/\(name)"
      if FileSystem.isTrusted(path) == true { Directory.removeTree(path) }
    }
  }
}

extension OutputCollector {
  /// The outputs that a step's program wrote into its file; empty if it has none.
  func written(
    in path: String?, by step: PlannedStep
  ) throws(StepFailure) -> [OutputValue] {
    guard let path else { return [] }
    let declared = step.step.outputs.filter { $0.value == nil }.map { output in
      OutputFile.Declaration(
        output.name, output.schema ?? ValueSchema(), isSecret: output.isSecret)
    }
    let bytes: [UInt8]
    do { bytes = try OutputFile.bytes(at: path) } catch {
      let help =
        if case .notRead(.tooLarge) = error {
          "write large data to a separate file, and output its name"
        } else {
          "append to it: echo \"NAME=VALUE\" >> \"$WEFT_OUTPUT\""
        }
      throw StepFailure(
        classes: [.output], message: "$WEFT_OUTPUT \(error.message)", help: help)
    }
    do {
      let isSecret = values.secrets.mask.contains(bytes)
      return try OutputFile.values(
        in: bytes, declared: declared, containsSecret: isSecret
      ).map { name, value in
        let isDeclaredSecret = declared.contains { $0.name == name && $0.isSecret }
        return output(name, ExpressionValue(value), isSecret: isDeclaredSecret)
      }
    } catch {
      throw StepFailure(classes: [.output], message: error.message, help: error.help)
    }
  }

  /// An output that contains the bytes of a secret is secret.
  private func output(
    _ name: String, _ value: ExpressionValue, isSecret: Bool
  ) -> OutputValue {
    let mask = values.secrets.mask
    let holdsSecret = !mask.isEmpty && mask.contains(value.jsonText(.compact).utf8)
    return registering(OutputValue(name: name, value: value, isSecret: isSecret || holdsSecret))
  }
}

/// The lines of an output file, and the values that span several of them.
struct OutputLines {
  struct Line {
    /// Counts from 1.
    let number: Int
    /// Without its line end; `nil` if it is not text.
    let text: String?
    /// The fault if it is not text.
    let fault: OutputFailure.Kind
  }

  enum Delimited {
    case value(String)
    /// The file ended before the delimiter.
    case unclosed
    case unreadable(OutputFailure.Kind, line: Int)
  }

  private let bytes: [UInt8]
  /// The offset of the next line.
  private var start: Int
  /// The number of the last line.
  private var number = 0

  /// Skips a byte order mark.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  mutating func next() -> Line? {
    guard let range = nextRange() else { return nil }
    return line(range)
  }

  /// The text up to the line that is `delimiter`, without the line end before it. Everything in between is kept
  /// unchanged, including line ends.
  mutating func value(until delimiter: String) -> Delimited {
    let first = start
    while true {
      let lineStart = start
      guard let range = nextRange() else { return .unclosed }
      let line = line(range)
      guard let text = line.text else { return .unreadable(line.fault, line: number) }
      guard text.utf8.elementsEqual(delimiter.utf8) else { continue }
      let end = withoutLineEnd(first..<lineStart)
      return .value(String(decoding: bytes[end], as: UTF8.self))
    }
  }

  private mutating func nextRange() -> Range<Int>? {
    guard start < bytes.count else { return nil }
    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    defer { start = end }
    number += 1
    return start..<end
  }

  private func line(_ range: Range<Int>) -> Line {
    let content = bytes[withoutLineEnd(range)]
    let text = content.contains(0) ? nil : String(validating: content, as: UTF8.self)
    return Line(number: number, text: text, fault: content.contains(0) ? .nul : .notUTF8)
  }

  private func withoutLineEnd(_ range: Range<Int>) -> Range<Int> {
    var end = range.upperBound
    guard end > range.lowerBound, bytes[end - 1] == UInt8(ascii: "\n") else { return range }
    end -= 1
    if end > range.lowerBound, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return range.lowerBound..<end
  }
}
