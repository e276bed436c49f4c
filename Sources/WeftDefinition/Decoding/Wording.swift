import WeftDiagnostics

/// Helpers for messages.

/// A character and, where its appearance may deceive, its code points.
func named(_ character: Character) -> String {
  character.isASCII && character != " "
    ? quoted(String(character)) : "\(quoted(String(character))) (\(scalars(String(character))))"
}

/// The first 20 code points of the text, such as `U+0065 U+0301`.
func scalars(_ text: String) -> String {
  text.unicodeScalars.prefix(20).map { scalar in
    let hex = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
  }.joined(separator: " ")
}

func didYouMean(_ name: String) -> String { "did you mean \"\(name)\"?" }

/// Whether the text is a whole number of plausible size.
func isCount(_ text: String) -> Bool {
  (1...9).contains(text.utf8.count)
    && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
}
