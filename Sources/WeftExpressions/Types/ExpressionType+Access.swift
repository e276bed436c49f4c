import WeftDiagnostics

/// The reason why a name finds nothing.
package enum AccessError: Error, Sendable, Hashable {
  /// The value has no members or elements.
  case nothingInside(ExpressionType)
  /// The object has no such member; `nearest` is the closest name of those it has.
  case unknownName(String, nearest: String?)
}

extension ExpressionType {
  /// The type of the value at a name, including `null` if it may be missing.
  ///
  /// - Throws: If there is never a value. `null` itself has nothing inside, but if a value may be `null` or something
  ///   else, only the other types count.
  package func type(at name: String) throws(AccessError) -> ExpressionType {
    var found: [ExpressionType] = []
    var fault: AccessError?
    for type in alternatives {
      do {
        found.append(try type.singleType(at: name))
      } catch {
        if fault == nil || type != .null { fault = error }
        if type == .null { found.append(.null) }
      }
    }
    if let fault, found.allSatisfy({ $0 == .null }) { throw fault }
    return .union(found)
  }

  private func singleType(at name: String) throws(AccessError) -> ExpressionType {
    switch self {
    case .any, .either: return .any
    case .array(let element):
      guard !NumberReading.number(from: name).isNaN else { throw .unknownName(name, nearest: nil) }
      return element.orNull
    case .object(let object):
      if let type = object.type(of: name) { return type }
      throw .unknownName(name, nearest: NearestName(object.fields.map(\.name)).nearest(to: name))
    case .null, .boolean, .number, .string: throw .nothingInside(self)
    }
  }

  /// The type at a path of names.
  ///
  /// For scopes: `names` are those of a reference after the part that the scope resolved, and `owner` is the name of
  /// that part in messages.
  package func type(
    at names: ArraySlice<ContextReference.Name>, in owner: String
  ) throws(ExpressionError) -> ExpressionType {
    var type = self
    var owner = owner
    for name in names {
      do {
        type = try type.type(at: name.text)
      } catch {
        throw ExpressionError(.access(error, in: owner), name.range)
      }
      owner += Lexer.isName(name.text) ? ".\(name.text)" : "[\(ExpressionText.literal(name.text))]"
    }
    return type
  }

  /// The type of any element or member.
  package var elementType: ExpressionType {
    get throws(AccessError) {
      var found: [ExpressionType] = []
      for type in alternatives {
        switch type {
        case .any, .either: return .any
        case .array(let element): found.append(element)
        case .object(let object):
          if object.fields.isEmpty, object.rest == nil { found.append(.null) }
          found += object.fields.map(\.type) + (object.rest.map { [$0] } ?? [])
        case .null, .boolean, .number, .string: continue
        }
      }
      if found.isEmpty { throw .nothingInside(self) }
      return .union(found)
    }
  }
}
