import WeftDiagnostics
import WeftPlanning
import WeftPlatform
import WeftReporting

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
    guard !diagnostics.isEmpty else { return }
    let style = DiagnosticText(usesColour: displaySettings.usesColour)
    write(style.rendered(DiagnosticCollection(diagnostics)))
  }
}
