import WeftPlatform

/// What one named thing was, as far as it is told.
package enum CacheContent: Sendable, Hashable {
  case text(String)
  /// A text too long to be kept: its SHA-256.
  case long(hash: String)
  /// A text that nobody may see: an HMAC of it, by a key that only this user has.
  case secret(code: String)
  /// A file, by the SHA-256 of its content.
  case file(hash: String, isExecutable: Bool)
  /// A symbolic link: what it says, and the hash of the file to which it leads, if it leads to one.
  case link(String, hash: String?)
  case directory
  /// A variable that is not set.
  case unset

  /// Longer texts are kept by their hash.
  package static let textBytes = 4096

  /// A text that everybody may see.
  package static func of(_ text: String) -> CacheContent {
    text.utf8.count <= textBytes
      ? .text(text) : .long(hash: SHA256.text(of: SHA256.digest(of: text.utf8)))
  }

  /// What makes it this and no other.
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
  /// By their bytes: `==` takes two spellings of "é" for one.
  static func areSame(_ one: CacheContent?, _ other: CacheContent?) -> Bool {
    one.map(\.canonical) == other.map(\.canonical)
  }

  private var canonical: [UInt8] {
    var bytes = CanonicalBytes()
    append(to: &bytes)
    return bytes.bytes
  }
}

/// Named things of one part.
package struct CacheValue: Sendable, Hashable {
  /// Of a variable or a file; empty where a part has only one thing.
  package var name: String
  package var content: CacheContent

  package init(_ name: String, _ content: CacheContent) {
    self.name = name
    self.content = content
  }
}
