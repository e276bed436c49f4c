import WeftDiagnostics

extension Expression {
  /// Evaluates the expression with the values of `scope`.
  ///
  /// `&&`, `||` and `case` evaluate only the operands they need; the others are not requested from the scope and cannot
  /// fail.
  package func evaluate(
    in scope: some ExpressionScope, limits: ExpressionLimits = .standard
  ) throws(ExpressionError) -> Evaluation {
    var evaluator = Evaluator(room: AllocationBudget(limit: limits.madeBytes))
    let value = try evaluator.value(of: root, in: scope)
    return Evaluation(value, isSecret: evaluator.isSecret)
  }
}

/// Walks trees, no deeper than the parser allows, and counts the bytes that evaluation creates.
///
/// The scope is a parameter rather than a property: a generic stored property is copied on each use.
struct Evaluator {
  var room: AllocationBudget
  private(set) var isSecret = false

  init(room: AllocationBudget) { self.room = room }

  mutating func value(
    of node: ExpressionNode, in scope: some ExpressionScope
  ) throws(ExpressionError) -> ExpressionValue {
    switch node.form {
    case .literal(let value): return value
    case .reference(let reference):
      let scoped = try scope.value(of: reference)
      if scoped.isSecret { isSecret = true }
      return scoped.value
    case .not(let operand): return .boolean(try !value(of: operand, in: scope).isTruthy)
    case .comparison(let comparison, let left, let right):
      return .boolean(
        comparison.holds(try value(of: left, in: scope), try value(of: right, in: scope)))
    case .all(let operands): return try firstValue(of: operands, thatIs: false, in: scope)
    case .any(let operands): return try firstValue(of: operands, thatIs: true, in: scope)
    case .index(let base, let index):
      let index = try value(of: index, in: scope)
      return try value(of: base, in: scope).value(at: index)
    case .filter(let base): return try value(of: base, in: scope).filtered
    case .call(let function, let arguments):
      return try value(of: function, arguments, at: node.range, in: scope)
    }
  }

  private mutating func firstValue(
    of operands: [ExpressionNode], thatIs truth: Bool, in scope: some ExpressionScope
  ) throws(ExpressionError) -> ExpressionValue {
    for operand in operands.dropLast() {
      let value = try value(of: operand, in: scope)
      if value.isTruthy == truth { return value }
    }
    return try value(of: operands[operands.count - 1], in: scope)
  }

  // MARK: Functions

  private mutating func value(
    of function: ExpressionFunction, _ arguments: [ExpressionNode], at range: SourceRange,
    in scope: some ExpressionScope
  ) throws(ExpressionError) -> ExpressionValue {
    if let status = function.status { return .boolean(status == .always || scope.status(status)) }
    if function == .case { return try chosen(from: arguments, in: scope) }
    var values: [ExpressionValue] = []
    values.reserveCapacity(arguments.count)
    for argument in arguments { values.append(try value(of: argument, in: scope)) }
    if function == .hashFiles { return .string(try hash(of: values, at: range, in: scope)) }
    do {
      return try function.value(of: values, within: &room)
    } catch {
      throw ExpressionError(isSecret ? error.concealed : error, range)
    }
  }

  private func hash(
    of values: [ExpressionValue], at range: SourceRange, in scope: some ExpressionScope
  ) throws(ExpressionError) -> String {
    var patterns: [String] = []
    for value in values {
      guard let text = value.primitiveText else {
        throw ExpressionError(.notText(.hashFiles, found: value.kindName), range)
      }
      patterns.append(text)
    }
    do {
      return try scope.hashFiles(patterns)
    } catch {
      throw ExpressionError(isSecret ? error.problem.concealed : error.problem, range)
    }
  }

  private mutating func chosen(
    from arguments: [ExpressionNode], in scope: some ExpressionScope
  ) throws(ExpressionError) -> ExpressionValue {
    for index in stride(from: 0, to: arguments.count - 1, by: 2) {
      let condition = try value(of: arguments[index], in: scope)
      guard case .boolean(let holds) = condition else {
        throw ExpressionError(.notBoolean(found: condition.kindName), arguments[index].range)
      }
      if holds { return try value(of: arguments[index + 1], in: scope) }
    }
    return try value(of: arguments[arguments.count - 1], in: scope)
  }
}
