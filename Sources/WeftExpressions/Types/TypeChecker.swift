import WeftDiagnostics

/// Determines what an expression refers to and which values it can have, without evaluating it.
///
/// A reference is *guarded* if the expression handles the case that the step did not run: the reference is on the left
/// of a `||`; or it is in an operand of `&&` or `||`, or an argument of `case`, after one that mentions `outcome` or
/// `conclusion` of the same step; or it refers to one of these two, which every step has.
package struct TypeChecker {
  private let scope: any TypeScope
  var checked = CheckedExpression(
    type: .any, isSecret: false, references: [], statusFunctions: [], hashesFiles: false,
    faults: [], remarks: [])
  /// The number of `||` operators that have the current node in a left operand.
  private var alternatives = 0
  private var tests = GuardTests()

  package static func check(_ expression: Expression, in scope: any TypeScope) -> CheckedExpression
  {
    if case .reference(let reference) = expression.root.form {
      return check(reference, in: scope)
    }
    var checker = TypeChecker(scope: scope)
    checker.checked.type = checker.type(of: expression.root)
    return checker.checked
  }

  /// Checks an expression that is a single reference, as most are.
  private static func check(
    _ reference: ContextReference, in scope: any TypeScope
  ) -> CheckedExpression {
    var (type, isSecret, faults) = (ExpressionType.any, false, [ExpressionError]())
    switch scope.type(of: reference) {
    case .known(let known, let secret): (type, isSecret) = (known, secret)
    case .fault(let fault): faults = [fault]
    }
    let found = CheckedExpression.Reference(
      reference: reference, type: type, isSecret: isSecret, isGuarded: reference.asksForOutcome)
    return CheckedExpression(
      type: type, isSecret: isSecret, references: [found], statusFunctions: [],
      hashesFiles: false, faults: faults, remarks: [])
  }

  private init(scope: any TypeScope) { self.scope = scope }

  /// A type, and whether it is the result of a filter.
  struct Found {
    var type: ExpressionType
    var isFiltered = false
  }

  mutating func type(of node: ExpressionNode) -> ExpressionType { found(node).type }

  mutating func found(_ node: ExpressionNode) -> Found {
    switch node.form {
    case .index(let base, let index): return access(base, index)
    case .filter(let base): return filter(base)
    case .literal(let value): return Found(type: ExpressionType(of: value))
    case .reference(let reference): return Found(type: type(of: reference))
    case .not(let operand):
      _ = type(of: operand)
      return Found(type: .boolean)
    case .comparison(let comparison, let left, let right):
      let types = (type(of: left), type(of: right))
      if !types.0.canEqual(types.1) { remark(on: comparison, types.0, types.1, at: node.range) }
      return Found(type: .boolean)
    case .all(let operands): return Found(type: type(of: operands, decidedBy: false))
    case .any(let operands): return Found(type: type(of: operands, decidedBy: true))
    case .call(let function, let arguments):
      return Found(type: type(of: function, arguments, at: node.range))
    }
  }

  // MARK: References

  private mutating func type(of reference: ContextReference) -> ExpressionType {
    let isGuarded = alternatives > 0 || reference.asksForOutcome || tests.cover(reference)
    var (type, isSecret) = (ExpressionType.any, false)
    switch scope.type(of: reference) {
    case .known(let known, let secret): (type, isSecret) = (known, secret)
    case .fault(let fault): checked.faults.append(fault)
    }
    if isSecret { checked.isSecret = true }
    checked.references.append(
      .init(reference: reference, type: type, isSecret: isSecret, isGuarded: isGuarded))
    return type
  }

  // MARK: Operators

  /// The type of `&&`, which the first false operand decides, or of `||`.
  private mutating func type(
    of operands: [ExpressionNode], decidedBy truth: Bool
  ) -> ExpressionType {
    let known = tests
    defer { tests = known }
    var types: [ExpressionType] = []
    for operand in operands.dropLast() {
      if truth { alternatives += 1 }
      if let type = typeNotingTests(of: operand).narrowed(to: truth) { types.append(type) }
      if truth { alternatives -= 1 }
    }
    types.append(typeNotingTests(of: operands[operands.count - 1]))
    return .union(types)
  }

  /// The type of `case` with these arguments.
  mutating func typeOfCase(_ arguments: [ExpressionNode]) -> ExpressionType {
    let known = tests
    defer { tests = known }
    var types: [ExpressionType] = []
    for (index, argument) in arguments.enumerated() {
      let type = typeNotingTests(of: argument)
      if index.isMultiple(of: 2), index < arguments.count - 1 {
        let canBeBoolean = type.alternatives.contains { $0 == .any || $0 == .boolean }
        if !canBeBoolean { add(.notBoolean(found: type.name), argument.range) }
      } else {
        types.append(type)
      }
    }
    return .union(types)
  }

  private mutating func typeNotingTests(of node: ExpressionNode) -> ExpressionType {
    let count = checked.references.count
    let type = type(of: node)
    for found in checked.references[count...] { tests.note(found.reference) }
    return type
  }

  mutating func add(_ problem: ExpressionProblem, _ range: SourceRange) {
    checked.faults.append(ExpressionError(problem, range))
  }
}
