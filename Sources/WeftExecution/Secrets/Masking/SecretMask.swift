/// What is to be masked at one moment of a run. Finds secrets in texts, in all their ``SecretForms``, and
/// puts ``Secret/mark`` in their place.
package struct SecretMask: Sendable {
  /// `nil` where there is nothing to look for.
  let automaton: PatternAutomaton?

  /// Masks nothing, at no cost.
  package static let none = SecretMask(automaton: nil)

  package init(_ secrets: some Sequence<Secret>) {
    var trie = PatternTrie()
    for secret in secrets { trie.insert(secret) }
    self.init(trie)
  }

  init(_ trie: PatternTrie) {
    guard trie.nodes.count > 1 else {
      self = .none
      return
    }
    var trie = trie
    trie.drawFallbacks()
    self.init(automaton: PatternAutomaton(trie))
  }

  private init(automaton: PatternAutomaton?) {
    self.automaton = automaton
  }

  package var isEmpty: Bool { automaton == nil }

  /// Whether some form of a secret stands in the bytes.
  package func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var isFound = false
    _ = automaton?.read(bytes, from: 0) { _ in
      isFound = true
      return false
    }
    return isFound
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

extension PatternTrie {
  mutating func insert(_ secret: Secret) {
    for form in SecretForms.all(of: secret.bytes) { insert(form) }
  }
}
