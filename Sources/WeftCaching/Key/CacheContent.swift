import WeftPlatform

/// The content of one named value, as far as known.
package enum CacheContent: Sendable, Hashable {
  case text(String)
  /// The SHA-256 of a text too long to be stored.
  case long(hash: String)
  /// An HMAC of a secret text, with a key that only this user has.
  case secret(code: String)
  /// A file, identified by the SHA-256 of its content.
  case file(hash: String, isExecutable: Bool)
  /// A symbolic link: its target, and the hash of the file that it leads to, if any.
  case link(String, hash: String?)
  case directory
  /// A variable that is not set.
  case unset

  /// The maximum length of a text; only the hash of a longer one is stored.
  package static let textBytes = 4096

  /// Returns the content of a text that is not secret.
  package static func of(_ text: String) -> CacheContent {
    text.utf8.count <= textBytes
      ? .text(text) : .long(hash: SHA256.text(of: SHA256.digest(of: text.utf8)))
  }

  /// Appends the bytes that identify the content.
  func append(to bytes: inout CanonicalBytes) {
    switch self {
    case .text(let text): bytes.append("t", text)
    case .long(let hash): bytes.append("h", hash)
    case .secret(let code): bytes.append("s", code)
    case .file(let hash, let isExecutable): bytes.append(isExecutable ? "x" : "f", hash)
    case .link(let target, let hash): bytes.append("l", target, hash ?? "")
    case .directory: bytes.append("d")
    case .unset: bytes.append("u")
    }
  }
}

extension CacheContent {
  /// Compares by bytes: `==` treats two spellings of "é" as equal.
  static func areSame(_ one: CacheContent?, _ other: CacheContent?) -> Bool {
    one.map(\.canonical) == other.map(\.canonical)
  }

  private var canonical: [UInt8] {
    var bytes = CanonicalBytes()
    append(to: &bytes)
    return bytes.bytes
  }
}

/// A named value of a part.
package struct CacheValue: Sendable, Hashable {
  /// The name of a variable or file; empty if the part has only one value.
  package var name: String
  package var content: CacheContent

  package init(_ name: String, _ content: CacheContent) {
    self.name = name
    self.content = content
  }
}
