import Weft
import WeftDiagnostics
import WeftJSON
import WeftPlatform

/// `weft fmt`: the files in one layout, written in place.
struct FormatCommand: Subcommand {
  private let files: [String]
  private let onlyChecks: Bool
  private let directory: String?

  init(_ parsed: ParsedArguments) {
    files = parsed.operands
    onlyChecks = parsed.isGiven(.formatCheck)
    directory = parsed.value(of: .directory)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    if files.contains("-"), files.count > 1 {
      throw CommandFailure(
        .usage, "standard input cannot be formatted beside other files",
        help: "pass \"-\" alone: its text is written to standard output")
    }
    let codes = files.map { format($0, console) }
    return codes.max { $0.status < $1.status } ?? .success
  }

  /// Formats one file; its errors do not affect the others.
  private func format(_ path: String, _ console: Console) -> ExitCode {
    let isStream = path == "-"
    let stamp = try? FileStamp(at: path)
    let file: SourceFile
    do {
      file = SourceFile(
        path: isStream ? "<stdin>" : path, bytes: try FileReading.bytes(of: path))
    } catch {
      var problem = error.diagnostic(of: path, below: directory)
      if case .system(.notFound) = error,
        let help = MissingFile(path, of: .fmt, below: directory).help
      {
        problem.help = help
      }
      console.errors.write([problem])
      return error.isAboutTheName ? .usage : .rejected
    }
    let (text, errors) = JSONFormatter.format(file)
    guard let text else {
      let foreign = ForeignFormat.diagnostic(ofText: file, problems: errors)
      console.errors.write(foreign.map { [$0] } ?? errors)
      return .rejected
    }
    if isStream, !onlyChecks { console.output.write(text) }
    guard text != file.bytes else { return .success }
    if !isStream, !onlyChecks {
      do throws(ReplacementError) {
        guard let stamp else { throw .changed }
        try TemporaryFile.replace(path, readAs: stamp, with: text)
      } catch {
        console.report(CommandError("\"\(path)\" \(error.message)", help: error.help))
        return error.isAboutTheName ? .usage : .broken
      }
    }
    if !isStream || onlyChecks { console.output.write(TerminalText.harmless(path) + "\n") }
    return onlyChecks ? .failure : .success
  }
}

extension ReplacementError {
  fileprivate var isAboutTheName: Bool { if case .special = self { true } else { false } }

  fileprivate var help: String? {
    switch self {
    case .special: "pass its text on standard input, as \"-\""
    case .changed: "format it again"
    case .system(.notPermitted): "both the file and its directory must be writable"
    case .system: nil
    }
  }
}
