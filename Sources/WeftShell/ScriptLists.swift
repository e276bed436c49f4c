/// Expressions whose values are arrays, each an argument for each of its elements.
///
/// The number of elements is not known before the run, and so neither is the position of any word after them. That matters:
/// the first word after `timeout` is a duration, the next one a command. So the script is also read with no word in
/// place of each array, and with several. Every expression must be allowed in all these readings.
struct ScriptLists {
  /// The numbers of words to try, besides one. An option, its argument and an operand come before a command at most.
  private static let counts = [0, 2, 3, 4]

  let text: String
  let placeholders: [Range<Int>]
  let dialect: ShellDialect
  let values: [ValueText]
  /// The indices of the placeholders for arrays.
  let lists: Set<Int>

  /// The placements and suspicions, given those of the script with one word for each array.
  func merging(
    _ placements: [ShellPlacement], _ suspicions: [ShellSuspicion]
  ) -> (placements: [ShellPlacement], suspicions: [ShellSuspicion]) {
    var (placements, suspicions) = (placements, suspicions)
    for list in lists {
      switch placements[list] {
      case .quoted(.comment, _), .rejected: continue
      case .quoted(.bare, _) where isWord(list): continue
      case .quoted: placements[list] = rejection(of: list)
      }
    }
    for count in ScriptLists.counts {
      let variant = Variant(of: self, repeating: count)
      let found = ScriptReading.placements(
        of: variant.placeholders, in: variant.text, dialect: dialect, values: variant.values)
      for (index, placement) in zip(variant.origins, found.placements) {
        placements[index] = merged(placements[index], placement, of: index)
      }
      for suspicion in found.suspicions {
        let index = variant.origins[suspicion.placeholder]
        guard !suspicions.contains(where: { $0.placeholder == index }) else { continue }
        suspicions.append(
          ShellSuspicion(
            placeholder: index, program: suspicion.program, option: suspicion.option))
      }
    }
    return (placements, suspicions)
  }

  private func merged(
    _ known: ShellPlacement, _ other: ShellPlacement, of index: Int
  ) -> ShellPlacement {
    switch (known, other) {
    case (.rejected, _): known
    case (.quoted(.comment, _), _): known
    case (.quoted, .rejected): lists.contains(index) ? rejection(of: index) : other
    case (.quoted(let quoting, let mayBeOption), .quoted(_, let mayAlsoBe)):
      .quoted(quoting, mayBeOption: mayBeOption || mayAlsoBe)
    }
  }

  private func rejection(of list: Int) -> ShellPlacement {
    .rejected(ShellQuotingError(.list, expression: text, placeholders[list]))
  }

  /// Whether there are blanks or operators around the placeholder, and no redirection before it.
  private func isWord(_ index: Int) -> Bool {
    let bytes = Array(text.utf8)
    let placeholder = placeholders[index]
    let before = bytes[..<placeholder.lowerBound]
    if let byte = before.last, !ScriptLists.blanks.contains(byte), byte != UInt8(ascii: "(") {
      return false
    }
    let last = before.indices.last { index in
      // A backslash before a line end continues the line.
      let isContinuation =
        bytes[index] == UInt8(ascii: "\\") && bytes[index + 1] == UInt8(ascii: "\n")
      return !ScriptLists.blanks.contains(bytes[index]) && !isContinuation
    }
    // A backslash belongs to the blank after it, and the others end the operator of a redirection.
    if let last, "<>|&\\".utf8.contains(bytes[last]) { return false }
    guard placeholder.upperBound < bytes.count else { return true }
    let next = bytes[placeholder.upperBound]
    return ScriptLists.blanks.contains(next) || ";|&)<>".utf8.contains(next)
  }

  private static let blanks = Set(" \t\r\n".utf8)
}

extension ScriptLists {
  /// The script with several words in place of each array.
  private struct Variant {
    private(set) var text = ""
    private(set) var placeholders: [Range<Int>] = []
    private(set) var values: [ValueText] = []
    /// For each placeholder, the index of the one that it stems from.
    private(set) var origins: [Int] = []

    init(of script: ScriptLists, repeating count: Int) {
      let source = Array(script.text.utf8)
      var bytes: [UInt8] = []
      var end = 0
      for (index, placeholder) in script.placeholders.enumerated() {
        bytes += source[end..<placeholder.lowerBound]
        end = placeholder.upperBound
        for copy in 0..<(script.lists.contains(index) ? count : 1) {
          if copy > 0 { bytes.append(UInt8(ascii: " ")) }
          placeholders.append(bytes.count..<bytes.count + placeholder.count)
          bytes += source[placeholder]
          origins.append(index)
          if !script.values.isEmpty { values.append(script.values[index]) }
        }
      }
      text = String(decoding: bytes + source[end...], as: UTF8.self)
    }
  }
}
