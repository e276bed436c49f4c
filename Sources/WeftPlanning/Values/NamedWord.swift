package import WeftDefinition

/// The members of `run` in expressions.
package enum RunField: String, Sendable, Hashable, CaseIterable {
  case id, attempt, dir
}

/// The members of `workflow` in expressions.
package enum WorkflowField: String, Sendable, Hashable, CaseIterable {
  case name, file
}

/// The contexts of expressions.
package enum ValueContext: String, Sendable, Hashable, CaseIterable {
  case inputs, env, secrets, steps
  case itself = "self"
  case item, index, matrix
  case run, workflow
}

/// Words of the language, compared by their bytes: they are looked up for every reference, and comparing `String`s
/// takes ten times as long.
struct NamedWords<Word: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  private let words: [(bytes: [UInt8], word: Word)]
  private let ignoresCase: Bool

  /// - Parameter ignoresCase: Whether uppercase ASCII letters match, too; the words are in lower case.
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
  /// The context with a name; contexts are case-insensitive.
  static func named(_ name: String) -> ValueContext? { words.word(named: name) }

  private static let words = NamedWords<ValueContext>(ignoresCase: true)
}

extension StepField {
  package static func named(_ name: String) -> StepField? { words.word(named: name) }

  private static let words = NamedWords<StepField>(ignoresCase: false)
}
