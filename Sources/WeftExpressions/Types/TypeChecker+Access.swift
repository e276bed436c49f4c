import WeftDiagnostics

/// Types of dynamic accesses.
extension TypeChecker {
  mutating func access(_ base: ExpressionNode, _ index: ExpressionNode) -> Found {
    let found = found(base)
    let indexType = type(of: index)
    do {
      if found.isFiltered, case .array(let element) = found.type {
        let type = try element.type(at: index, whichIs: indexType)
        return Found(type: .array(of: type), isFiltered: true)
      }
      return Found(type: try found.type.type(at: index, whichIs: indexType))
    } catch {
      add(.access(error, in: nil), index.range)
      return Found(type: .any, isFiltered: found.isFiltered)
    }
  }

  mutating func filter(_ base: ExpressionNode) -> Found {
    let found = found(base)
    do {
      let element = try found.type.elementType
      guard found.isFiltered else { return Found(type: .array(of: element), isFiltered: true) }
      return Found(type: .array(of: try element.elementType), isFiltered: true)
    } catch {
      add(.access(error, in: nil), base.range)
      return Found(type: .array(of: .any), isFiltered: true)
    }
  }
}

extension ExpressionType {
  /// The type at an index, which is a literal or known only by its type.
  fileprivate func type(
    at index: ExpressionNode, whichIs indexType: ExpressionType
  ) throws(AccessError) -> ExpressionType {
    if case .literal(let value) = index.form, let name = value.primitiveText {
      return try type(at: name)
    }
    return try elementType.orNull
  }
}
