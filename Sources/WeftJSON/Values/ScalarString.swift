/// A string compared by Unicode scalars, for use as a dictionary key.
package struct ScalarString: Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }
}

extension ScalarString: Hashable {
  package static func == (left: ScalarString, right: ScalarString) -> Bool {
    left.string.utf8.elementsEqual(right.string.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var copy = string
    copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(UInt8(0xFF))
  }
}
