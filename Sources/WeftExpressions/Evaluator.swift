import WeftDiagnostics

extension Expression {
  /// Evaluates the expression with the values of `scope`.
  ///
  /// `&&`, `||` and `case` evaluate only the operands they need; the others are not requested from the scope and cannot
  /// fail.
  package func evaluate(
    in scope: some ExpressionScope, limits: ExpressionLimits = .standard
  ) throws(ExpressionError) -> ScopedValue {
    var evaluator = Evaluator(
      budget: AllocationBudget(limit: limits.madeBytes, work: limits.elementWork))
    let value = try evaluator.value(of: self, in: scope)
    return ScopedValue(value, isSecret: evaluator.isSecret)
  }
}

/// Walks trees, no deeper than the parser allows, and counts the bytes that evaluation creates.
///
/// The scope is a parameter rather than a property: a generic stored property is copied on each use.
struct Evaluator {
  var budget: AllocationBudget
  private(set) var isSecret = false
  /// The element that a function looks at; `nil` outside of an expression for each element.
  private var element: Element?
  /// The expression that is evaluated.
  private var whole = ExpressionNode(.literal(.null), SourceRange(start: 0, end: 0))

  /// An element of a list, with its number.
  private struct Element {
    let item: ExpressionValue
    let index: Int
  }

  init(budget: AllocationBudget) { self.budget = budget }

  mutating func value(
    of expression: Expression, in scope: some ExpressionScope
  ) throws(ExpressionError) -> ExpressionValue {
    whole = expression.root
    return try value(of: expression.root, in: scope)
  }

  private mutating func value(
    of node: ExpressionNode, in scope: some ExpressionScope
  ) throws(ExpressionError) -> ExpressionValue {
    if element != nil { try spend(1, at: node.range) }
    switch node.form {
    case .literal(let value): return value
    case .element(let reference): return value(of: reference)
    case .reference(let reference):
      let scoped = try scope.value(of: reference, in: whole)
      if scoped.isSecret { isSecret = true }
      return scoped.value
    case .not(let operand): return .boolean(try !value(of: operand, in: scope).isTruthy)
    case .comparison(let comparison, let left, let right):
      let (one, other) = (try value(of: left, in: scope), try value(of: right, in: scope))
      if element != nil { try spend(min(one.size, other.size), at: node.range) }
      return .boolean(comparison.holds(one, other))
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
    if function.hasBody, arguments.count == 2 {
      return try value(of: function, arguments[0], arguments[1], at: range, in: scope)
    }
    var values: [ExpressionValue] = []
    values.reserveCapacity(arguments.count)
    for argument in arguments { values.append(try value(of: argument, in: scope)) }
    if element != nil {
      try spend(
        function.readsFiles
          ? Evaluator.workOfReadingFiles : values.reduce(0) { $0 + $1.size }, at: range)
    }
    do {
      if function.readsFiles {
        return try function.value(of: values, by: scope.files, within: &budget)
      }
      return try function.value(of: values, within: &budget)
    } catch {
      throw ExpressionError(isSecret ? error.concealed : error, range)
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

/// Functions that evaluate an expression for each element of a list.
extension Evaluator {
  private static let workOfReadingFiles = 100_000

  private mutating func value(
    of function: ExpressionFunction, _ argument: ExpressionNode, _ body: ExpressionNode,
    at range: SourceRange, in scope: some ExpressionScope
  ) throws(ExpressionError) -> ExpressionValue {
    let list = try value(of: argument, in: scope)
    let call = FunctionCall(function: function, arguments: [list])
    let elements = try place(range) { (_) throws(EvaluationError) in try call.list(0) }
    var found: [ExpressionValue] = []
    let outer = element
    defer { element = outer }
    for (index, item) in elements.enumerated() {
      element = Element(item: item, index: index)
      let value = try value(of: body, in: scope)
      if function == .filter, !value.isTruthy { continue }
      let kept = function == .filter ? item : value
      found.append(kept)
      if function != .sort {
        try place(range) { (budget) throws(EvaluationError) in try budget.take(kept) }
      }
    }
    guard function == .sort else { return .array(found) }
    return try place(range) { (budget) throws(EvaluationError) in
      try call.sorted(by: found, within: &budget)
    }
  }

  /// The value of `item` or `index` with its names.
  private func value(of reference: ContextReference) -> ExpressionValue {
    guard let element else { preconditionFailure("\(reference.text) outside of a list") }
    let value =
      reference.isOfContext("item") ? element.item : .number(Double(element.index))
    return reference.names.dropFirst().reduce(value) { $0.value(at: .string($1.text)) }
  }

  private mutating func spend(_ work: Int, at range: SourceRange) throws(ExpressionError) {
    do { try budget.spend(work) } catch { throw ExpressionError(error, range) }
  }

  /// Gives a fault its location, and conceals what is secret.
  private mutating func place<Value>(
    _ range: SourceRange, _ body: (inout AllocationBudget) throws(EvaluationError) -> Value
  ) throws(ExpressionError) -> Value {
    do { return try body(&budget) } catch {
      throw ExpressionError(isSecret ? error.concealed : error, range)
    }
  }
}

extension ExpressionValue {
  /// The work of reading the value once, not counting what is in its elements.
  fileprivate var size: Int {
    switch self {
    case .null, .boolean, .number: 0
    case .string(let text): text.utf8.count
    case .array(let array): array.elements.count
    case .object(let object): object.members.count
    }
  }
}

/// The number of bytes of text and lists that an evaluation may still create, and the work that it may still do.
///
/// Doubling is easily written: without a limit, a few nested `format('{0}{0}', …)` fill any memory.
struct AllocationBudget {
  let limit: Int
  private var left: Int
  private let work: Int
  private var workLeft: Int

  init(limit: Int, work: Int = ExpressionLimits.standard.elementWork) {
    self.limit = limit
    self.work = work
    left = limit
    workLeft = work
  }

  /// Counts work on an element of a list: a list in a list multiplies it without creating anything.
  mutating func spend(_ work: Int) throws(EvaluationError) {
    guard work <= workLeft else { throw .tooMuchWork(limit: self.work) }
    workLeft -= work
  }

  mutating func take(_ count: Int) throws(EvaluationError) {
    guard count <= left else { throw .tooLarge(limit: limit) }
    left -= count
  }

  /// Appends text, or throws if it exceeds the limit.
  mutating func append(_ more: String, to text: inout String) throws(EvaluationError) {
    try take(more.utf8.count)
    text += more
  }
}

/// The source of the values of an expression.
///
/// Queried for one reference at a time, and only for those whose value is needed.
package protocol ExpressionScope {
  /// - Parameter expression: The expression that contains the reference. Members of elements that no name in it could
  ///   read need not be computed.
  /// - Throws: A fault, with the range of the offending name.
  func value(
    of reference: ContextReference, in expression: ExpressionNode
  ) throws(ExpressionError) -> ScopedValue

  /// Never called with ``StatusFunction/always``.
  func status(_ function: StatusFunction) -> Bool

  /// The files that functions read.
  var files: any FileLookup { get }
}

/// The files that the functions of expressions can read.
package protocol FileLookup: Sendable {
  /// The hash of the files that the patterns match, as 64 lowercase hexadecimal digits; empty if there are none.
  func hash(of patterns: [String]) throws(EvaluationError) -> String

  /// The paths of the files that the patterns match, in byte order.
  func paths(matching patterns: [String]) throws(EvaluationError) -> [String]
}

/// No files at all.
package struct NoFiles: FileLookup {
  package init() {}

  package func hash(of patterns: [String]) -> String { "" }

  package func paths(matching patterns: [String]) -> [String] { [] }
}

/// The value of a reference, an expression or a template.
package struct ScopedValue: Sendable {
  package var value: ExpressionValue
  /// Whether it must not be shown: a secret was read, even one that decided the value without being part of it.
  package var isSecret: Bool

  package init(_ value: ExpressionValue, isSecret: Bool = false) {
    self.value = value
    self.isSecret = isSecret
  }
}

/// A scope of plain values, as in `weft eval`: missing values are `null`, as on GitHub.
package struct ValueScope: ExpressionScope {
  /// The values, by the names of the contexts.
  package var contexts: ExpressionObject
  package var statuses: Set<StatusFunction>
  package let files: any FileLookup

  /// - Parameter statuses: The status functions that are true.
  package init(
    _ contexts: ExpressionObject, statuses: Set<StatusFunction> = [.success, .always],
    files: any FileLookup = NoFiles()
  ) {
    self.contexts = contexts
    self.statuses = statuses
    self.files = files
  }

  package func value(
    of reference: ContextReference, in expression: ExpressionNode
  ) -> ScopedValue {
    var value = ExpressionValue.object(contexts)
    for name in reference.names {
      guard case .object(let object) = value else {
        value = value.value(at: .string(name.text))
        continue
      }
      value = object[name.text] ?? .null
    }
    return ScopedValue(value)
  }

  package func status(_ function: StatusFunction) -> Bool { statuses.contains(function) }
}
