import Weft
import WeftEvents
import WeftPlatform
import WeftReporting

/// The two output streams of the program.
struct Console {
  let output = OutputPort(.standardOutput)
  let errors = OutputPort(.standardError)

  /// Reports an error.
  func report(_ commandError: CommandError) { errors.write(commandError.text) }

  /// Writes pending output, and reports write errors.
  ///
  /// - Returns: `code`, or ``ExitCode/broken`` if standard output is incomplete, unless a signal ended the program,
  ///   since a lost terminal is then only a consequence.
  func close(_ code: ExitCode) -> ExitCode {
    output.flush()
    if let fault = output.fault {
      report(CommandError("cannot write to standard output: \(fault.message)"))
    }
    errors.flush()
    if case .signal = code { return code }
    return output.fault == nil ? code : .broken
  }
}

/// An error without a location in a workflow file, worded and formatted like a diagnostic.
struct CommandError: Error, Sendable, Hashable {
  /// One sentence: lower case, no full stop.
  var message: String
  /// The suggested remedy.
  var help: String?

  init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  func masked(by mask: SecretMask) -> CommandError {
    CommandError(mask.masked(message), help: help.map(mask.masked))
  }

  /// The formatted error. Ends with a line end, and contains no terminal control characters.
  var text: String {
    let footnote = help.map { "   = help: \(TerminalText.harmless($0))\n" } ?? ""
    return "weft: error: \(harmlessMessage)\n" + footnote
  }

  /// The sentence alone.
  var harmlessMessage: String { TerminalText.harmless(message) }
}

/// The reason why a command did nothing.
struct CommandFailure: Error {
  let code: ExitCode
  var commandError: CommandError?
  var diagnostics: [Diagnostic] = []

  init(_ code: ExitCode, _ message: String, help: String? = nil) {
    self.code = code
    commandError = CommandError(message, help: help)
  }

  /// - Parameter diagnostics: Empty if the reason is already written.
  init(_ code: ExitCode, _ diagnostics: [Diagnostic] = []) {
    self.code = code
    self.diagnostics = diagnostics
  }

  init(_ fault: RunFolderError) {
    self.init(.broken, fault.message, help: fault.help)
  }

  init(_ error: RunStoreError) {
    self.init(.broken, error.message, help: error.help)
  }

  init(_ error: StepChoiceError) {
    self.init(.usage, error.message, help: error.help ?? Self.helpForSteps)
  }

  static let helpForSteps = "\"weft graph FILE\" shows the names of the steps"
}

extension Console {
  /// Reports the reason, and returns the exit code.
  func refuse(_ failure: CommandFailure) -> ExitCode {
    if !failure.diagnostics.isEmpty { errors.write(failure.diagnostics) }
    if let commandError = failure.commandError { report(commandError) }
    return failure.code
  }
}

/// A buffered output stream of the program that never fails a caller.
///
/// After a write error, further output is dropped, and the error is reported at the end. A closed pipe
/// (`weft … | head -1`) is not an error.
final class OutputPort {
  /// The buffer size that triggers a write.
  private static let gatheredBytes = 64 << 10

  let descriptor: Descriptor
  private var gathered: [UInt8] = []
  /// Whether the output is no longer read, or cannot be written.
  private(set) var isClosed = false
  /// The reason why output is incomplete.
  private(set) var fault: WriteError?

  init(_ descriptor: Descriptor) {
    self.descriptor = descriptor
  }

  func write(_ text: String) { write(text.utf8) }

  func write(_ bytes: some Collection<UInt8>) {
    guard !isClosed else { return }
    gathered.append(contentsOf: bytes)
    if gathered.count >= OutputPort.gatheredBytes { flush() }
  }

  /// Writes the buffer; may wait for a reader.
  func flush() {
    guard !isClosed, !gathered.isEmpty else { return }
    defer { gathered.removeAll(keepingCapacity: true) }
    do {
      try descriptor.writeAll(gathered)
    } catch {
      isClosed = true
      if error != .brokenPipe { fault = error }
    }
  }
}

/// The display capabilities of the port.
extension OutputPort {
  var displaySize: DisplaySize {
    let size = descriptor.terminalSize
    return DisplaySize(columns: size?.columns ?? 0, rows: size?.rows ?? 0)
  }

  /// The size for redrawn output; `nil` in the background, where the shell writes too.
  var redrawnSize: DisplaySize? { descriptor.isTerminalOfOthers ? nil : displaySize }

  var displaySettings: DisplaySettings {
    DisplaySettings.choose(
      isTerminal: descriptor.isTerminal, size: displaySize, variable: ThisProcess.variable)
  }

  /// Writes a plan, as wide as the terminal and in the characters of the locale.
  ///
  /// Files and pipes get unbroken lines, unless `COLUMNS` limits their width.
  func write(_ plan: Plan, as format: PlanFormat) {
    let columns =
      descriptor.terminalSize?.columns
      ?? ThisProcess.variable("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    let style = PlanStyle(
      width: columns ?? PlanStyle.unlimited, usesASCII: !displaySettings.usesUnicode)
    write(plan.rendered(as: format, style: style))
  }

  /// Writes all problems of one file.
  func write(_ diagnostics: [Diagnostic]) {
    if !diagnostics.isEmpty { write(rendered(diagnostics)) }
  }

  /// Returns the text of all problems of one file.
  func rendered(_ diagnostics: [Diagnostic]) -> String {
    DiagnosticText(usesColour: displaySettings.usesColour)
      .rendered(DiagnosticCollection(diagnostics))
  }
}
