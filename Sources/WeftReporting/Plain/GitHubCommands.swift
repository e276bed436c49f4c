/// GitHub Actions workflow commands: lines that its runner executes.
///
/// The runner recognizes two forms (actions/runner, `ActionCommand.cs`): `::name …::` at the start of a line, where a
/// step's line has its prefix, and `##[name …]` anywhere in a line.
struct GitHubCommands: Sendable {
  /// Returns an error; a warning for a tolerated failure.
  func annotation(isTolerated: Bool, title: String, message: String) -> String {
    let name = isTolerated ? "warning" : "error"
    return "::\(name) title=\(GitHubCommands.escaped(title, isProperty: true))::"
      + GitHubCommands.escaped(message, isProperty: false)
  }

  /// Escapes text as the runner expects it (actions/toolkit, `command.ts`).
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

  /// Appends a line with a space before every `[` that follows `##`. The runner's culture-sensitive comparison
  /// ignores invisible characters, and so does this.
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
