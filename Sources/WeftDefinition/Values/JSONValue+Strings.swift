package import WeftJSON

extension JSONValue {
  /// Visits every string in the value in order, itself included, but not names.
  package func visitStrings(at path: ValuePath, _ visit: (ValuePath, String) -> Void) {
    switch self {
    case .string(let text): visit(path, text)
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        element.visitStrings(at: path.appending(.element(index)), visit)
      }
    case .object(let object):
      for member in object.members {
        member.value.visitStrings(at: path.appending(.property(member.key)), visit)
      }
    case .null, .bool, .number: break
    }
  }

  /// The value with each of its strings replaced.
  package func replacingStrings(
    at path: ValuePath = ValuePath(), _ replacement: (ValuePath, String) -> JSONValue
  ) -> JSONValue {
    switch self {
    case .string(let text): replacement(path, text)
    case .array(let elements):
      .array(
        elements.enumerated().map { index, element in
          element.replacingStrings(at: path.appending(.element(index)), replacement)
        })
    case .object(let object):
      .object(
        JSONObject(
          object.members.map { member in
            (
              member.key,
              member.value.replacingStrings(at: path.appending(.property(member.key)), replacement)
            )
          }))
    case .null, .bool, .number: self
    }
  }
}
