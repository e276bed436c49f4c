import Synchronization
package import WeftDefinition

/// The secrets of one run: their values by name, for what may use them, and the mask that hides them
/// wherever the run writes. More may come to be secret while it goes on. For any thread.
package final class RunSecrets: Sendable {
  private struct Masking {
    var trie = PatternTrie()
    /// `nil` when something has been added since it was made.
    var mask: SecretMask?

    mutating func current() -> SecretMask {
      if let mask { return mask }
      let mask = SecretMask(trie)
      self.mask = mask
      return mask
    }
  }

  private let values: [SecretName: Secret]
  private let masking: Mutex<Masking>

  /// - Parameter values: By the names in the workflow's `secrets`.
  package init(_ values: [SecretName: Secret] = [:]) {
    self.values = values
    var masking = Masking()
    for secret in values.values { masking.trie.insert(secret) }
    self.masking = Mutex(masking)
  }

  /// The secret of that name, if it was read.
  package subscript(name: SecretName) -> Secret? { values[name] }

  package var isEmpty: Bool { values.isEmpty }

  /// What is to be masked now. Ask again for each text: it costs a lock, and making it anew only after
  /// something was added.
  package var mask: SecretMask { masking.withLock { $0.current() } }

  /// Masks from now on a value that was made from secrets, in all its forms.
  ///
  /// - Returns: Whether it can be: not if it is no ``Secret``, as when it is shorter than four bytes.
  package func add(_ value: [UInt8]) -> Bool {
    guard let secret = try? Secret(value) else { return false }
    masking.withLock { masking in
      // Nothing is gained where the known secrets hide all of it.
      let known = value.withUnsafeBytes(masking.current().masked)
      guard known != Array(Secret.mark.utf8) else { return }
      masking.trie.insert(secret)
      masking.mask = nil
    }
    return true
  }
}

extension RunSecrets: CustomStringConvertible {
  package var description: String { "\(values.count) secrets" }
}
