/// Quotes words for POSIX shells and fish, in commands that messages suggest.
package enum ShellWord {
  package static func quoted(_ word: String) -> String {
    if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
    var quoted = "'"
    for scalar in word.unicodeScalars {
      // Within single quotes, fish reads two backslashes as one.
      if scalar == "'" || scalar == "\\" { quoted += "'\\" }
      quoted.unicodeScalars.append(scalar)
      if scalar == "'" || scalar == "\\" { quoted += "'" }
    }
    return quoted + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: [".", "/", "_", "-", "+", ",", ":", "@"].contains { UInt8(ascii: $0) == byte }
    }
  }
}
