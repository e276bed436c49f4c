import WeftDiagnostics

extension Expression {
  /// The value, by what `scope` tells.
  ///
  /// `&&`, `||` and `case` evaluate only what they need; the rest is neither asked for nor can fail.
  package func evaluate(
    in scope: some ExpressionScope, limits: ExpressionLimits = .standard
  ) throws(ExpressionFault) -> Evaluation {
    var evaluator = Evaluator(scope: scope, room: MadeBytes(limit: limits.madeBytes))
    let value = try evaluator.value(of: root)
    return Evaluation(value, isSecret: evaluator.isSecret)
  }
}

/// Walks a tree once. No deeper than the parser lets trees be.
struct Evaluator<Scope: ExpressionScope> {
  let scope: Scope
  var room: MadeBytes
  private(set) var isSecret = false

  init(scope: Scope, room: MadeBytes) {
    self.scope = scope
    self.room = room
  }

  mutating func value(of node: ExpressionNode) throws(ExpressionFault) -> ExpressionValue {
    switch node.form {
    case .literal(let value): return value
    case .reference(let reference):
      let scoped = try scope.value(of: reference)
      if scoped.isSecret { isSecret = true }
      return scoped.value
    case .not(let operand): return .boolean(try !value(of: operand).isTruthy)
    case .comparison(let comparison, let left, let right):
      return .boolean(comparison.holds(try value(of: left), try value(of: right)))
    case .all(let operands): return try firstValue(of: operands, thatIs: false)
    case .any(let operands): return try firstValue(of: operands, thatIs: true)
    case .index(let base, let index):
      let index = try value(of: index)
      return try value(of: base).value(at: index)
    case .filter(let base): return try value(of: base).filtered
    case .call(let function, let arguments):
      return try value(of: function, arguments, at: node.range)
    }
  }

  private mutating func firstValue(
    of operands: [ExpressionNode], thatIs truth: Bool
  ) throws(ExpressionFault) -> ExpressionValue {
    for operand in operands.dropLast() {
      let value = try value(of: operand)
      if value.isTruthy == truth { return value }
    }
    return try value(of: operands[operands.count - 1])
  }

  // MARK: Functions

  private mutating func value(
    of function: ExpressionFunction, _ arguments: [ExpressionNode], at range: SourceRange
  ) throws(ExpressionFault) -> ExpressionValue {
    if let status = function.status { return .boolean(status == .always || scope.status(status)) }
    if function == .case { return try chosen(from: arguments) }
    var values: [ExpressionValue] = []
    values.reserveCapacity(arguments.count)
    for argument in arguments { values.append(try value(of: argument)) }
    if function == .hashFiles { return .string(try hash(of: values, at: range)) }
    do {
      return try function.value(of: values, within: &room)
    } catch {
      throw ExpressionFault(error, range)
    }
  }

  private func hash(
    of values: [ExpressionValue], at range: SourceRange
  ) throws(ExpressionFault) -> String {
    var patterns: [String] = []
    for value in values {
      guard let text = value.primitiveText else {
        throw ExpressionFault(.notText(.hashFiles, found: value.kindName), range)
      }
      patterns.append(text)
    }
    do {
      return try scope.hashFiles(patterns)
    } catch {
      throw ExpressionFault(error.problem, range)
    }
  }

  private mutating func chosen(
    from arguments: [ExpressionNode]
  ) throws(ExpressionFault) -> ExpressionValue {
    for index in stride(from: 0, to: arguments.count - 1, by: 2) {
      let condition = try value(of: arguments[index])
      guard case .boolean(let holds) = condition else {
        throw ExpressionFault(.notBoolean(found: condition.kindName), arguments[index].range)
      }
      if holds { return try value(of: arguments[index + 1]) }
    }
    return try value(of: arguments[arguments.count - 1])
  }
}
