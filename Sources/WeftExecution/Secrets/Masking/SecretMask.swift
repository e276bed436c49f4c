/// What is to be masked at one moment of a run. Finds secrets in texts, in all their ``SecretForms``, and
/// puts ``Secret/mark`` in their place.
package struct SecretMask: Sendable {
  /// What is looked for, in one part or several; none where there is nothing.
  let automata: [PatternAutomaton]

  /// Masks nothing, at no cost.
  package static let none = SecretMask(automata: [])

  package init(_ secrets: some Collection<Secret>) {
    self.init(automata: secrets.isEmpty ? [] : [PatternAutomaton(secrets.map { MaskedValue($0) })])
  }

  init(automata: [PatternAutomaton]) {
    self.automata = automata
  }

  package var isEmpty: Bool { automata.isEmpty }

  /// Whether some form of a secret stands in the bytes.
  package func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    automata.contains { automaton in
      var isFound = false
      var position = PatternAutomaton.Position()
      automaton.read(bytes, from: &position) { _ in
        isFound = true
        return false
      }
      return isFound
    }
  }

  package func contains(_ bytes: some Collection<UInt8>) -> Bool {
    if isEmpty { return false }
    return bytes.withContiguousStorageIfAvailable { contains(UnsafeRawBufferPointer($0)) }
      ?? Array(bytes).withUnsafeBytes(contains)
  }

  /// The bytes with every stretch of secrets replaced.
  package func masked(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var filter = SecretFilter(self)
    var masked: [UInt8] = []
    filter.take(bytes) { masked += $0 }
    filter.finish { masked += $0 }
    return masked
  }

  /// The text with every stretch of secrets replaced.
  package func masked(_ text: String) -> String {
    if isEmpty { return text }
    var copy = text
    return copy.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      return contains(bytes) ? String(decoding: masked(bytes), as: UTF8.self) : text
    }
  }
}

/// A secret, and how much of what it may be written as is looked for.
struct MaskedValue: Sendable {
  let secret: Secret
  /// None of its encodings: much memory is spared where there are many such values.
  let onlyAsIs: Bool

  init(_ secret: Secret, onlyAsIs: Bool = false) {
    self.secret = secret
    self.onlyAsIs = onlyAsIs
  }

  var forms: [[UInt8]] {
    onlyAsIs ? SecretForms.asIs(secret.bytes) : SecretForms.all(of: secret.bytes)
  }
}

extension PatternAutomaton {
  convenience init(_ values: [MaskedValue]) {
    var trie = PatternTrie()
    for value in values {
      for form in Set(value.forms) { trie.insert(form) }
    }
    self.init(trie)
  }
}
