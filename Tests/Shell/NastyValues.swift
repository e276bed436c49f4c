/// Values that do harm wherever one is taken for anything but data.
enum NastyValues {
  static let all: [String] =
    code + words + [
      "", " ", "\n", "\n\n", "\t", "a b", " a  b ", "a\n", "a\nb\n\n", "\n a", "'", "\"", "''",
      "\"\"",
      "it's", "say \"hi\"", "'\"'\"'", "\\", "\\\\", "\\n", "\\'", "a\\", "\\\"", "$", "$$", "$x",
      "${x}",
      "${F}", "$F", "$1", "$@", "$'a'", "$\"a\"", "*", "?", "[a-z]", "[!a]*", "{a,b}", "{1..3}",
      "~",
      "~root", "~/x", "!", "!!", "!x", "#", "#a", "a#b", ";", "&", "|", "<", ">", "(", ")", "((",
      "))", "{", "}",
      "=", "a=b", "=ls", ":", "%", "%s", "%n%d", "^a^b", "@", ",", "E", "E\n", "\nE\n", "\tE", "E1",
      "EOF",
      "-", "--", "-e", "-n", "-v", "-c", "-x", "--help", "+x", "0", "-1", "08", "1e5", "a.b/c", "/",
      "/etc/passwd",
      "\r", "a\rb", "\r\n", "\u{1B}[31mred\u{1B}[0m", "\u{7F}", "ä", "ā ă ą",
      "\u{101}\u{102}\u{103}\u{104}\u{105}\u{106}\u{107}\u{108}",
      "日本語", "🙂", "e\u{301}", "\u{A0}", "\u{2028}", "\u{FEFF}", "\u{85}", "\u{81}\u{82}\u{88}",
      "\u{FFFD}",
      String(repeating: "a", count: 4096), String(repeating: "'\"$(x)`\\\n", count: 400),
      String((1...0x1F).map { Character(UnicodeScalar($0)) }),
    ] + (1...0x1F).map { "a\(UnicodeScalar(UInt8($0)))b" }
    + (0x20...0x7F).map { "\(UnicodeScalar(UInt8($0)))" }

  /// Values that make the file `canary` if they are run or evaluated.
  static let code: [String] = [
    "$(touch canary)", "`touch canary`", "a[$(touch canary)]", "a[`touch canary`]",
    "x[$(touch canary)0]=1",
    "; touch canary", "\ntouch canary\n", "' ; touch canary; '", "\"; touch canary; \"",
    "$(touch canary", "${x:=$(touch canary)}",
    "&& touch canary", "| touch canary", ") ; touch canary; (", "} ; touch canary; {",
    "esac; touch canary; case a in", "done; touch canary",
    "fi; touch canary", "'$(touch canary)'", "\"$(touch canary)\"", "\\$(touch canary)",
    "\\`touch canary\\`", "E\ntouch canary\nE",
    "\nE\ntouch canary\n", "<(touch canary)", ">(touch canary)", "=(touch canary)",
    "$((a[$(touch canary)]))", "-va[$(touch canary)]", "a[\"$(touch canary)\"]",
    "*(e:'touch canary':)", "${(e):-$(touch canary)}", "'\"${x[$(touch canary)]}\"'",
    "$[a[$(touch canary)]]", "a[$(touch canary)]=1", "x=$(touch canary)",
    "}}; touch canary", "${{ touch canary }}", "touch canary", "eval touch canary",
    "();{ touch canary;", "() { touch canary; }; x",
  ]

  /// Words that have a meaning in shells.
  static let words: [String] = [
    "if", "then", "fi", "do", "done", "case", "esac", "in", "for", "while", "function", "[[", "]]",
    "]", "[", "time",
    "x", "y", "a", "PATH", "IFS", "eval", "exit", "-eq", "-a", "-o", "=~", "true", "false",
  ]

  /// Integers, as ``ValueText/integer`` says.
  static let integers = [
    "0", "-0", "1", "-1", "7", "10", "-10", "42", "255", "2147483648", "-9223372036854775808",
    "9223372036854775807", "18446744073709551616", "99999999999999999999999",
  ]

  /// Words, as ``ValueText/word`` says.
  static let plain =
    [
      "", "canary-command", "x", "y", "a", "F", "x=canary-command", "v1.2.3", "a/b", "./a", "/",
      "@",
      "=", "=ls", "+x", "+", ":", "::", "1", "08", "1e5", "a-b", "E", "E1", "EOF", "eval", "sh",
      "if", "then", "fi", "done", "esac", "in", "PATH", "IFS", "PS4", "user@host", "a,b", "time",
      "_",
    ] + (0..<30).map { "WEFT_VALUE_\($0)" }

  /// Random text of pieces that mean something to shells.
  static func random(using random: inout some RandomNumberGenerator) -> String {
    let pieces =
      Array("'\"\\$`(){}[]<>|&;#*?!~=-+ \n\tax1\u{1}\u{7F}äE%@^").map(String.init) + [
        "$(", "${", "((", "))", "$'", "\\\n", "touch canary",
      ]
    return (0..<Int.random(in: 1...12, using: &random)).map { _ in
      pieces.randomElement(using: &random)!
    }.joined()
  }

  static func value(using random: inout some RandomNumberGenerator) -> String {
    Int.random(in: 0..<3, using: &random) == 0
      ? self.random(using: &random) : all.randomElement(using: &random)!
  }
}
