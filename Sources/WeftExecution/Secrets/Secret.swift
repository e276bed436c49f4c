import WeftDefinition

/// The bytes of a secret. Printing one, by interpolation, `print` or `dump`, shows `***`.
package struct Secret: Sendable {
  /// The value, for passing it to programs and for masking.
  package let bytes: [UInt8]

  /// The minimum length, without surrounding white space. A shorter one would occur in half of all texts, and
  /// masking it would reveal more than it hides.
  package static let fewestBytes = WorkflowLimits.secretBytes.lowerBound
  /// The maximum length, because masking takes memory in proportion to it.
  package static let mostBytes = WorkflowLimits.secretBytes.upperBound

  /// The reason why bytes cannot be a secret.
  package enum Unfit: Error, Sendable, Hashable {
    case empty
    case tooShort(count: Int)
    case tooLong
    /// It could not be passed in an environment.
    case hasNUL
    /// It could not be passed on unchanged by expressions.
    case notUTF8
  }

  package init(_ bytes: [UInt8]) throws(Unfit) {
    if bytes.isEmpty { throw .empty }
    let count = bytes[...].withoutOuterSpace.count
    if count < Secret.fewestBytes { throw .tooShort(count: count) }
    if bytes.count > Secret.mostBytes { throw .tooLong }
    if bytes.contains(0) { throw .hasNUL }
    if String(validating: bytes, as: UTF8.self) == nil { throw .notUTF8 }
    self.bytes = bytes
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The replacement for every secret.
  package static let mark = "***"

  package var description: String { Secret.mark }
  package var debugDescription: String { Secret.mark }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
