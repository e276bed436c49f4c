import WeftDefinition

/// The bytes of a secret. Whatever prints one, by interpolation, `print` or `dump`, shows `***`.
package struct Secret: Sendable {
  /// For what hands it to a program, and for what masks it.
  package let bytes: [UInt8]

  /// White space around it does not count. A shorter one would be found in half of all texts, and masking
  /// it would tell more than it hides.
  package static let fewestBytes = WorkflowLimits.secretBytes.lowerBound
  /// Masking takes memory in proportion to what is masked.
  package static let mostBytes = WorkflowLimits.secretBytes.upperBound

  /// Why bytes are no secret that can be kept.
  package enum Unfit: Error, Sendable, Hashable {
    case empty
    case tooShort(count: Int)
    case tooLong
    /// No program could be given it in its environment.
    case hasNUL
    /// No expression could hand it on as it is.
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
  /// What stands in place of every secret.
  package static let mark = "***"

  package var description: String { Secret.mark }
  package var debugDescription: String { Secret.mark }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
