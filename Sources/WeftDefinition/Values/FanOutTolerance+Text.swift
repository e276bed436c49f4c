extension FanOutTolerance {
  /// Reads a percentage as written in a workflow: `"10%"`; `nil` if `text` is not one, or is above 100%.
  init?(percentage text: String) {
    let digits = text.utf8.dropLast()
    guard text.utf8.last == UInt8(ascii: "%"), !digits.isEmpty, digits.allSatisfy(\.isDigit),
      let percent = Int(Substring(digits)), percent <= 100
    else { return nil }
    self = .percent(percent)
  }
}
