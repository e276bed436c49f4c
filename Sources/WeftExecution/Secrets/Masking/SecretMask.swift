/// The secrets to mask at one moment of a run. Finds them in texts, in all their ``SecretForms``, and replaces
/// them by ``Secret/mark``.
package struct SecretMask: Sendable {
  /// The automata that search for the secrets; empty if there is nothing to mask.
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

  /// Whether the bytes contain some form of a secret.
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

/// A secret, and which of its forms are searched for.
struct MaskedValue: Sendable {
  let secret: Secret
  /// Whether its encodings are omitted: this saves much memory if there are many such values.
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
