package import WeftDiagnostics

/// Determines what an expression refers to and which values it can have, without evaluating it.
///
/// A reference is *guarded* if the expression handles the case that the step did not run: the reference is on the left
/// of a `||`; or it is in an operand of `&&` or `||`, or an argument of `case`, after one that mentions `outcome` or
/// `conclusion` of the same step; or it refers to one of these two, which every step has.
package struct TypeChecker {
  private let scope: any TypeScope
  private(set) var checked = CheckedExpression(
    type: .any, isSecret: false, references: [], statusFunctions: [], readsFiles: false,
    faults: [], remarks: [])
  /// The number of `||` operators that have the current node in a left operand.
  private var alternatives = 0
  private var tests = GuardTests()
  /// The type of the element that a function looks at.
  private var element: ExpressionType?

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
      reference: reference, type: type, isSecret: isSecret, isGuarded: reference.readsOutcome)
    return CheckedExpression(
      type: type, isSecret: isSecret, references: [found], statusFunctions: [],
      readsFiles: false, faults: faults, remarks: [])
  }

  /// A type, and whether it is the result of a filter.
  struct Found {
    var type: ExpressionType
    var isFiltered = false
  }

  mutating func type(of node: ExpressionNode) -> ExpressionType { found(node).type }

  private mutating func found(_ node: ExpressionNode) -> Found {
    switch node.form {
    case .index(let base, let index): return access(base, index)
    case .filter(let base): return filter(base)
    case .literal(let value): return Found(type: ExpressionType(of: value))
    case .reference(let reference): return Found(type: type(of: reference))
    case .element(let reference): return Found(type: typeOfElement(reference))
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
    let isGuarded = alternatives > 0 || reference.readsOutcome || tests.cover(reference)
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

  /// The type of `item` or `index` with its names.
  private mutating func typeOfElement(_ reference: ContextReference) -> ExpressionType {
    let type = reference.isOfContext("index") ? .number : element ?? .any
    do {
      return try type.type(at: reference.names.dropFirst(), in: reference.context)
    } catch {
      checked.faults.append(error)
      return .any
    }
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
    for found in checked.references[count...] { tests.record(found.reference) }
    return type
  }

  /// The type of an expression for each element, which is evaluated any number of times.
  mutating func type(
    ofBody body: ExpressionNode, forEach element: ExpressionType
  ) -> ExpressionType {
    let (outer, known) = (self.element, tests)
    defer { (self.element, tests) = (outer, known) }
    self.element = element
    return type(of: body)
  }

  mutating func note(_ function: ExpressionFunction) {
    if let status = function.status { checked.statusFunctions.insert(status) }
    if function.readsFiles { checked.readsFiles = true }
  }

  mutating func add(_ problem: EvaluationError, _ range: SourceRange) {
    checked.faults.append(ExpressionError(problem, range))
  }
}

/// Types of dynamic accesses.
extension TypeChecker {
  private mutating func access(_ base: ExpressionNode, _ index: ExpressionNode) -> Found {
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

  private mutating func filter(_ base: ExpressionNode) -> Found {
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

extension TypeChecker {
  /// Adds a remark on operands that are never equal.
  private mutating func remark(
    on comparison: Comparison, _ left: ExpressionType, _ right: ExpressionType,
    at range: SourceRange
  ) {
    guard comparison == .equal || comparison == .notEqual else { return }
    checked.remarks.append(
      ExpressionRemark.booleanAsText(left, right, at: range)
        ?? .neverEqual(left, right, comparison, at: range))
  }
}

extension ExpressionRemark {
  fileprivate static func neverEqual(
    _ left: ExpressionType, _ right: ExpressionType, _ comparison: Comparison,
    at range: SourceRange
  ) -> ExpressionRemark {
    ExpressionRemark(
      message: "this is always \(comparison == .notEqual), because \(left.remarkName) never "
        + "equals \(right.remarkName)",
      help: left.nearest(right).map { "did you mean '\($0)'?" } ?? booleanHelp(left, right),
      range: range)
  }

  /// The remedy for `'true'` or `'false'` beside what may be a boolean.
  private static func booleanHelp(_ left: ExpressionType, _ right: ExpressionType) -> String? {
    for (value, text) in [(left, right), (right, left)] {
      guard value.alternatives.contains(.boolean), case .string(.some(let values)) = text,
        values.count == 1, ["true", "false"].contains(values[0].lowercased())
      else { continue }
      return "write \(values[0]) without quotes"
    }
    return nil
  }

  /// A boolean compared with `'true'` or `'false'`.
  fileprivate static func booleanAsText(
    _ left: ExpressionType, _ right: ExpressionType, at range: SourceRange
  ) -> ExpressionRemark? {
    for (boolean, text) in [(left, right), (right, left)] {
      guard boolean == .boolean, case .string(.some(let values)) = text,
        let help = booleanHelp(left, right)
      else { continue }
      return ExpressionRemark(
        message: "a boolean never equals the string '\(values[0])', which is not a number",
        help: help, range: range)
    }
    return nil
  }
}

extension ExpressionType {
  /// The name, with the possible values of a string.
  fileprivate var remarkName: String {
    if case .either(let types) = self {
      return types.map(\.remarkName).joined(separator: " or ")
    }
    guard case .string(.some(let values)) = self else { return name }
    let words = values.prefix(8).map { ExpressionText.literal($0) }
    return values.count == 1
      ? "the string \(words[0])"
      : "one of " + words.joined(separator: ", ") + (values.count > 8 ? ", …" : "")
  }

  /// The possible value of one side that is closest to the only value of the other.
  fileprivate func nearest(_ other: ExpressionType) -> String? {
    guard case .string(.some(let left)) = self, case .string(.some(let right)) = other else {
      return nil
    }
    if right.count == 1 { return NearestName(left).nearest(to: right[0]) }
    return left.count == 1 ? NearestName(right).nearest(to: left[0]) : nil
  }
}

/// The steps whose `outcome` or `conclusion` was mentioned so far.
struct GuardTests {
  /// The names that lead to each step, including its own.
  private var steps: [ArraySlice<ContextReference.Name>] = []

  mutating func record(_ reference: ContextReference) {
    if reference.readsOutcome { steps.append(reference.names.dropLast()) }
  }

  /// Whether the reference is to one of these steps.
  func cover(_ reference: ContextReference) -> Bool {
    steps.contains { step in
      step.count < reference.names.count
        && zip(step, reference.names).allSatisfy { FoldedText.areEqual($0.text, $1.text) }
    }
  }
}

extension ContextReference {
  /// Whether it refers to the outcome or conclusion of a step.
  package var readsOutcome: Bool {
    guard names.count > 2, let last = names.last?.text else { return false }
    return FoldedText.areEqual(last, "outcome") || FoldedText.areEqual(last, "conclusion")
  }
}

/// The source of the types of references.
package protocol TypeScope {
  func type(of reference: ContextReference) -> ReferenceType
}

package enum ReferenceType: Sendable, Hashable {
  case known(ExpressionType, isSecret: Bool)
  /// The reference is invalid; problems that follow from it are not reported.
  case fault(ExpressionError)
}

/// The result of checking an expression before it is evaluated.
package struct CheckedExpression: Sendable {
  package struct Reference: Sendable {
    package var reference: ContextReference
    package var type: ExpressionType
    package var isSecret: Bool
    /// Whether the expression handles a missing value; see ``TypeChecker``.
    package var isGuarded: Bool
  }

  package var type: ExpressionType
  /// Whether it refers to any secret.
  package var isSecret: Bool
  /// The references in source order, including invalid ones, as ``ExpressionType/any``.
  package var references: [Reference]
  package var statusFunctions: Set<StatusFunction>
  package var readsFiles: Bool
  /// The faults, in the order in which they were found.
  package var faults: [ExpressionError]
  /// Constructs that are valid, but surely unintended.
  package var remarks: [ExpressionRemark]
}

/// A construct in an expression that is surely unintended, and its location.
package struct ExpressionRemark: Sendable, Hashable {
  package var code: String { "W0510" }
  package let message: String
  package let help: String?
  /// UTF-8 offsets, as in ``ExpressionError/range``.
  package let range: SourceRange
}
