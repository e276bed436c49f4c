import WeftPatterns
package import WeftShell

extension ValueText {
  /// The texts that the declaration of an input allows.
  package init(of schema: ValueSchema) {
    let plain: Set<ValueType> = [.integer, .number, .boolean]
    if schema.constant != nil || !schema.allowed.isEmpty {
      self = .listed
    } else if !schema.types.isEmpty, schema.types.allSatisfy(plain.contains) {
      self = .listed
    } else if schema.types.allSatisfy({ plain.contains($0) || $0 == .string }),
      !schema.types.isEmpty,
      schema.text.pattern?.confines(to: Self.signs, first: Self.firstSigns) == true
    {
      self = .word
    } else {
      self = .any
    }
  }

  private static let firstSigns = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/@+=".unicodeScalars)
  private static let signs = firstSigns.union(["-"])
}
