import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftPlatform

/// The runners that the user's configuration declares for all workflows: in the file that WEFT_CONFIG names, or else
/// in `config.jsonc` of the directory `weft` for configurations.
struct UserConfiguration {
  /// The runners as far as they were understood.
  var runners: [Runner] = []
  var diagnostics: [Diagnostic] = []

  /// Whether no run may start with it.
  var isRejected: Bool { diagnostics.contains(where: \.isError) }

  /// The problems of a file behind those of the configuration. A runner that is not known may be one of those that were
  /// not understood.
  func problems(with found: [Diagnostic]) -> [Diagnostic] {
    diagnostics + (isRejected ? found.filter { $0.code != Diagnostic.unknownRunner } : found)
  }

  static let variable = "WEFT_CONFIG"

  /// Reads the file. It need not exist, unless WEFT_CONFIG names it; if that is empty, there is none.
  static func read() -> UserConfiguration {
    let named = ThisProcess.variable(variable)
    guard let path = named ?? usualPath, !path.isEmpty else { return UserConfiguration() }
    do throws(FileReadError) {
      let source = SourceFile(path: path, bytes: try FileReading.bytes(of: path))
      let (runners, diagnostics) = ConfigurationFile.decode(source)
      return UserConfiguration(runners: runners, diagnostics: diagnostics)
    } catch {
      // Another user's home directory, as su leaves it, has no file for this one.
      if named == nil, case .system(.notFound) = error { return UserConfiguration() }
      if named == nil, case .system(.notPermitted) = error { return UserConfiguration() }
      let problem = Diagnostic(
        .error, code: "W0000", message: "the configuration \(quoted(path)) \(error.message)",
        place: nil,
        help: named == nil ? nil : "\(variable) names it; set it to nothing for no configuration")
      return UserConfiguration(diagnostics: [problem])
    }
  }

  /// The path by the XDG Base Directory Specification; `nil` without a home directory.
  private static var usualPath: String? {
    if let directory = ThisProcess.variable("XDG_CONFIG_HOME"), directory.hasPrefix("/") {
      return "\(directory)/weft/config.jsonc"
    }
    return ThisProcess.variable("HOME").map { "\($0)/.config/weft/config.jsonc" }
  }
}
