/// Words of the language that are looked up for every reference, by their bytes: to compare `String`s one
/// after the other takes ten times as long.
struct NamedWords<Word: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  private let words: [(bytes: [UInt8], word: Word)]
  private let ignoresCase: Bool

  /// - Parameter ignoresCase: Whether ASCII letters in upper case are found, too; the words are in lower case.
  init(ignoresCase: Bool) {
    words = Word.allCases.map { (Array($0.rawValue.utf8), $0) }
    self.ignoresCase = ignoresCase
  }

  func word(named name: String) -> Word? {
    var name = name
    return name.withUTF8 { bytes in
      for (candidate, word) in words
      where candidate.count == bytes.count && matches(bytes, candidate) {
        return word
      }
      return nil
    }
  }

  private func matches(_ bytes: UnsafeBufferPointer<UInt8>, _ word: [UInt8]) -> Bool {
    for index in bytes.indices where bytes[index] != word[index] {
      let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index])
      guard ignoresCase, isUpper, bytes[index] | 0x20 == word[index] else { return false }
    }
    return true
  }
}

extension ValueContext {
  /// The context of a name; contexts are found regardless of upper and lower case.
  static func named(_ name: String) -> ValueContext? { words.word(named: name) }

  private static let words = NamedWords<ValueContext>(ignoresCase: true)
}

extension StepField {
  package static func named(_ name: String) -> StepField? { words.word(named: name) }

  private static let words = NamedWords<StepField>(ignoresCase: false)
}
