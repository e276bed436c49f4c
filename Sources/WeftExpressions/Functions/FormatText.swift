/// Implements `format`: a text with values in braces.
enum FormatText {
  static func text(
    _ format: String, _ values: ArraySlice<ExpressionValue>, within budget: inout AllocationBudget
  ) throws(EvaluationError) -> String {
    let bytes = Array(format.utf8)
    var text = ""
    var start = 0
    var index = 0
    while let brace = bytes[index...].firstIndex(where: isBrace) {
      let isDoubled = brace + 1 < bytes.count && bytes[brace + 1] == bytes[brace]
      try budget.append(
        String(decoding: bytes[start..<(isDoubled ? brace + 1 : brace)], as: UTF8.self), to: &text)
      if isDoubled {
        index = brace + 2
      } else {
        guard let place = place(in: bytes, at: brace) else { throw .malformedFormat(format) }
        guard let number = place.number, number < values.count else {
          throw .missingFormatValue(
            index: String(decoding: bytes[brace + 1..<place.end - 1], as: UTF8.self),
            given: values.count)
        }
        try budget.append(values[values.startIndex + number].text, to: &text)
        index = place.end
      }
      start = index
    }
    try budget.append(String(decoding: bytes[start...], as: UTF8.self), to: &text)
    return text
  }

  private static func isBrace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
  }

  /// Parses `{12}`: its number, `nil` if that overflows, and its end.
  private static func place(in bytes: [UInt8], at brace: Int) -> (number: Int?, end: Int)? {
    guard bytes[brace] == UInt8(ascii: "{") else { return nil }
    let digits = bytes[(brace + 1)...].prefix {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    let end = digits.endIndex
    guard !digits.isEmpty, end < bytes.count, bytes[end] == UInt8(ascii: "}") else { return nil }
    return (Int(String(decoding: digits, as: UTF8.self)), end + 1)
  }
}
