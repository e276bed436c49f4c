import WeftEncoding
import WeftPlatform

/// Everything that a step's result depends on, by part: steps with equal keys are assumed to have equal results.
package struct CacheKey: Sendable, Hashable {
  /// The known content of a part.
  package enum Known: Sendable, Hashable {
    /// All values, sorted by name, without duplicates.
    case values([CacheValue])
    /// Only the hash.
    case hash(String)
  }

  private var parts: [CachePart: Known] = [:]

  package init() {}

  package subscript(part: CachePart) -> Known? { parts[part] }

  /// The parts that are set, in order.
  package var words: [CachePart] { CachePart.allCases.filter { parts[$0] != nil } }

  package mutating func set(_ part: CachePart, _ content: CacheContent) {
    parts[part] = .values([CacheValue("", content)])
  }

  /// - Precondition: No name occurs twice.
  package mutating func set(_ part: CachePart, _ values: [CacheValue]) {
    guard let sorted = CacheKey.sorted(values) else {
      preconditionFailure("a name is twice in \(part)")
    }
    parts[part] = .values(sorted)
  }

  /// The values in the order of their names; `nil` if a name occurs twice.
  static func sorted(_ values: [CacheValue]) -> [CacheValue]? {
    let sorted = values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    let isUnique = zip(sorted, sorted.dropFirst()).allSatisfy {
      !$0.name.utf8.elementsEqual($1.name.utf8)
    }
    return isUnique ? sorted : nil
  }

  /// Sets only the hash of a part.
  package mutating func set(_ part: CachePart, hash: String) { parts[part] = .hash(hash) }

  package func hash(of part: CachePart) -> String? {
    switch parts[part] {
    case .hash(let hash): return hash
    case .values(let values):
      var bytes = CanonicalBytes()
      bytes.append(part.rawValue)
      bytes.append(count: values.count)
      for value in values {
        bytes.append(value.name)
        value.content.append(to: &bytes)
      }
      return bytes.hash
    case nil: return nil
    }
  }

  /// Whether it has the same hash as another key.
  package func isSame(as other: CacheKey) -> Bool {
    CachePart.allCases.allSatisfy { isSame($0, as: other) }
  }

  /// Whether a part has the same hash in another key. If its values are known on both sides, nothing is hashed.
  private func isSame(_ part: CachePart, as other: CacheKey) -> Bool {
    guard case .values(let own)? = parts[part], case .values(let others)? = other.parts[part]
    else { return hash(of: part) == other.hash(of: part) }
    return own.count == others.count
      && zip(own, others).allSatisfy { own, other in
        own.name.utf8.elementsEqual(other.name.utf8) && own.content.isSame(as: other.content)
      }
  }

  /// The hash of all parts, which identifies a result.
  package var hash: String {
    var bytes = CanonicalBytes()
    bytes.append(CacheKey.format)
    for part in CachePart.allCases {
      if let hash = hash(of: part) { bytes.append(part.rawValue, hash) }
    }
    return bytes.hash
  }

  /// A different format makes all earlier results unreachable.
  static let format = "weft step cache 1"
}

/// A part of a step's dependencies. The raw values appear in reports and must not change.
///
/// This module caches the results of steps, and explains why a result is not available. It knows nothing of
/// workflows: ``CacheKey`` is what a result depends on, ``CacheEntry`` is the result, and ``StepCache`` stores it;
/// ``WorkspaceReader`` reads files, and `OutputRestoration` puts them back.
package enum CachePart: String, Sendable, Hashable, CaseIterable {
  /// The operating system and processor.
  case platform
  /// The program and its arguments, or the interpreter and the script.
  case command
  /// The working directory.
  case cwd
  /// The element of a loop.
  case element
  /// The standard input.
  case stdin
  /// The variables that the file sets or lists.
  case env
  /// The input files, by content.
  case inputs
  /// The paths of the outputs.
  case outputs
  /// An arbitrary text by the author of the workflow.
  case key
  /// The version that a tool reports.
  case version
}

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
  static func areSame(_ one: CacheContent?, _ other: CacheContent?) -> Bool {
    guard let one, let other else { return one == nil && other == nil }
    return one.isSame(as: other)
  }

  /// Compares by bytes: `==` treats two spellings of "é" as equal.
  func isSame(as other: CacheContent) -> Bool {
    switch (self, other) {
    case (.text(let one), .text(let other)), (.long(let one), .long(let other)),
      (.secret(let one), .secret(let other)):
      one.utf8.elementsEqual(other.utf8)
    case (.file(let one, let isOneExecutable), .file(let other, let isOtherExecutable)):
      isOneExecutable == isOtherExecutable && one.utf8.elementsEqual(other.utf8)
    case (.link(let one, let oneHash), .link(let other, let otherHash)):
      one.utf8.elementsEqual(other.utf8) && (oneHash ?? "") == (otherHash ?? "")
    case (.directory, .directory), (.unset, .unset): true
    default: false
    }
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

/// One difference between two keys.
package struct CacheDifference: Sendable, Hashable {
  package var part: CachePart
  /// The name of a variable or file; empty if the part has only one value.
  package var name: String
  /// `nil` if it did not exist.
  package var before: CacheContent?
  /// `nil` if it no longer exists.
  package var after: CacheContent?
}

extension CacheKey {
  /// Returns the differences from an earlier key, in the order of parts and names; empty for equal keys.
  package func differences(from earlier: CacheKey) -> [CacheDifference] {
    changedParts(from: earlier).flatMap { part -> [CacheDifference] in
      guard case .values(let before) = earlier[part] ?? .values([]),
        case .values(let after) = self[part] ?? .values([])
      else {
        return [
          CacheDifference(
            part: part, name: "", before: earlier.hash(of: part).map { .long(hash: $0) },
            after: hash(of: part).map { .long(hash: $0) })
        ]
      }
      return CacheKey.differences(part, before, after)
    }
  }

  /// Returns the parts that differ from an earlier key.
  package func changedParts(from earlier: CacheKey) -> [CachePart] {
    CachePart.allCases.filter { !isSame($0, as: earlier) }
  }

  /// Requires both lists to be sorted by name.
  private static func differences(
    _ part: CachePart, _ before: [CacheValue], _ after: [CacheValue]
  ) -> [CacheDifference] {
    var found: [CacheDifference] = []
    var (old, new) = (before[...], after[...])
    while let name = [old.first?.name, new.first?.name].compactMap(\.self).min(by: precedes) {
      let was = take(name, from: &old)
      let now = take(name, from: &new)
      if !CacheContent.areSame(was, now) {
        found.append(CacheDifference(part: part, name: name, before: was, after: now))
      }
    }
    return found
  }

  private static func take(
    _ name: String, from values: inout ArraySlice<CacheValue>
  ) -> CacheContent? {
    guard let first = values.first, first.name.utf8.elementsEqual(name.utf8) else { return nil }
    values.removeFirst()
    return first.content
  }

  private static func precedes(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}

/// An unambiguous encoding of texts: each is preceded by its length, and each list by its count, so that no two lists
/// have the same bytes.
struct CanonicalBytes {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ texts: String...) {
    append(count: texts.count)
    for text in texts {
      append(count: text.utf8.count)
      bytes += text.utf8
    }
  }

  mutating func append(count: Int) {
    withUnsafeBytes(of: UInt64(count).littleEndian) { bytes.append(contentsOf: $0) }
  }

  var hash: String { SHA256.text(of: SHA256.digest(of: bytes)) }
}
