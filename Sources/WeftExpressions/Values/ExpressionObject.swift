internal import WeftJSON

/// Values by name, in order.
///
/// A name matches the member with the same spelling, or else the first that differs only in case. (GitHub Actions drops
/// members that differ from an earlier one only in case.)
package final class ExpressionObject: Sendable {
  package struct Member: Sendable {
    package let key: String
    package let value: ExpressionValue

    package init(key: String, value: ExpressionValue) {
      self.key = key
      self.value = value
    }
  }

  /// The number of members up to which a linear search is faster than hashing.
  private static let indexedCount = 12

  package let members: [Member]
  /// The first member of each folded key; empty while there are few members.
  private let places: [ScalarString: Int]
  /// The first member of each further spelling of a folded key.
  private let otherSpellings: [ScalarString: Int]

  package init(_ members: [Member]) {
    self.members = members
    var places: [ScalarString: Int] = [:]
    var others: [ScalarString: Int] = [:]
    if members.count > ExpressionObject.indexedCount {
      for (place, member) in members.enumerated() {
        let folded = ScalarString(FoldedText.folded(member.key))
        guard let first = places[folded] else {
          places[folded] = place
          continue
        }
        let spelling = ScalarString(member.key)
        guard spelling != ScalarString(members[first].key), others[spelling] == nil else {
          continue
        }
        others[spelling] = place
      }
    }
    self.places = places
    self.otherSpellings = others
  }

  package subscript(key: String) -> ExpressionValue? {
    guard places.isEmpty else {
      let place = otherSpellings.isEmpty ? nil : otherSpellings[ScalarString(key)]
      return (place ?? places[ScalarString(FoldedText.folded(key))]).map { members[$0].value }
    }
    return members.withUnsafeBufferPointer { members in
      var similar: Int?
      for place in members.indices where FoldedText.areEqual(members[place].key, key) {
        if members[place].key.utf8.elementsEqual(key.utf8) { return members[place].value }
        if similar == nil { similar = place }
      }
      return similar.map { members[$0].value }
    }
  }
}
