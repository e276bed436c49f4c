import Weft
import WeftPlatform
import WeftReporting

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
