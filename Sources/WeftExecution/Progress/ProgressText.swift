import WeftEvents

/// The progress that the end of a file `$WEFT_PROGRESS` reports: its last line of the form `n/m text`.
///
/// Both ways of writing are understood: appending lines, and replacing the file by its latest line. A line counts once
/// it has a newline, or once its writer has ended.
struct ProgressText {
  /// The progress of the last valid line; `nil` if there is none.
  private(set) var latest: StepProgress?
  /// Whether there is a line of another form.
  private(set) var hasOtherLines = false

  /// The bytes at the end of a file that are looked at.
  static let endingBytes = 16 << 10
  /// The longest line of which more than the beginning could be wanted.
  private static let lineBytes = 4 << 10

  /// - Parameters:
  ///   - ending: The end of the file.
  ///   - isWhole: Whether it is the whole file; otherwise its first line is incomplete.
  ///   - isFinal: Whether nothing more will be written, so that a last line needs no newline.
  init(_ ending: [UInt8], isWhole: Bool, isFinal: Bool) {
    let newline = UInt8(ascii: "\n")
    var lines = ending.split(separator: newline, omittingEmptySubsequences: false)[...]
    if !isFinal { lines = lines.dropLast() }
    if !isWhole {
      // A line longer than what is looked at is none of the form.
      hasOtherLines = lines.count <= 1
      lines = lines.dropFirst()
    }
    take(lines)
  }

  private mutating func take(_ lines: ArraySlice<ArraySlice<UInt8>>) {
    for line in lines.reversed() {
      let isEmpty = line.allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: " ") }
      if isEmpty { continue }
      guard let progress = ProgressText.progress(in: line) else {
        hasOtherLines = true
        continue
      }
      latest = latest ?? progress
      if hasOtherLines { return }
    }
  }

  /// Parses `n/m text`: decimal numbers, `m` at least 1; leading spaces are allowed.
  static func progress(in line: ArraySlice<UInt8>) -> StepProgress? {
    var rest = line.prefix(lineBytes).drop { $0 == UInt8(ascii: " ") }
    guard let done = number(&rest), rest.popFirst() == UInt8(ascii: "/"),
      let total = number(&rest), total > 0
    else { return nil }
    guard let next = rest.first else { return StepProgress(done, of: total) }
    guard isSpace(next) else { return nil }
    rest = rest.drop(while: isSpace)
    var text = Array(rest)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return StepProgress(done, of: total, text: String(decoding: text, as: UTF8.self))
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }

  /// Takes a decimal number of at most 2⁵³, which all readers of JSON know exactly.
  private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
    let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    guard !digits.isEmpty else { return nil }
    rest = rest.dropFirst(digits.count)
    var value = 0
    for digit in digits {
      value = value * 10 + Int(digit - UInt8(ascii: "0"))
      if value > 1 << 53 { return nil }
    }
    return value
  }
}
