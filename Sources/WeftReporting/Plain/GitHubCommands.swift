/// Workflow commands of GitHub Actions: lines that its runner obeys.
///
/// The runner knows two forms (actions/runner, `ActionCommand.cs`): `::name …::` at the start of a
/// line, which no line of a step can be behind its prefix, and `##[name …]` anywhere in a line.
struct GitHubCommands: Sendable {
  /// An error; a tolerated failure is a warning.
  func annotation(isTolerated: Bool, title: String, message: String) -> String {
    let name = isTolerated ? "warning" : "error"
    return "::\(name) title=\(GitHubCommands.escaped(title, isProperty: true))::"
      + GitHubCommands.escaped(message, isProperty: false)
  }

  /// As the runner takes it back (actions/toolkit, `command.ts`).
  static func escaped(_ text: String, isProperty: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": result += "%25"
      case "\r": result += "%0D"
      case "\n": result += "%0A"
      case ":" where isProperty: result += "%3A"
      case "," where isProperty: result += "%2C"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Adds a line with a space before every `[` that follows `##`. The runner compares by culture,
  /// which overlooks characters that cannot be seen: so does this.
  func append(inert line: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
    var hashes = 0
    for byte in line {
      switch byte {
      case UInt8(ascii: "#"): hashes += 1
      case UInt8(ascii: "["):
        if hashes >= 2 { bytes.append(UInt8(ascii: " ")) }
        hashes = 0
      case 0x20..<0x7F: hashes = 0
      default: break
      }
      bytes.append(byte)
    }
  }
}
