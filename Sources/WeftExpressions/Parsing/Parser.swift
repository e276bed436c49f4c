import WeftDiagnostics

/// Parses the tokens of an expression into a tree, from left to right.
///
/// From loose to tight: `||`, `&&`, `== !=`, `< <= > >=`, `!`, then accesses. Depth is counted as GitHub counts it, and
/// chains of comparisons, which GitHub does not limit, add to it: no tree is deeper than the limit, so code that walks
/// a tree needs no limit of its own.
struct Parser {
  var lexer: Lexer
  private let limits: ExpressionLimits
  private let bounds: SourceRange
  private(set) var token = Token(kind: .end, start: 0, end: 0)
  /// The token before ``token``.
  private(set) var last = Token(kind: .end, start: 0, end: 0)
  private var depth = 0
  private var nodeCount = 0
  /// The names of the references being parsed, innermost last.
  var names: [ContextReference.Name] = []

  /// Parses the bytes from `start` to `end`; ranges are offsets in all of `bytes`.
  init(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, limits: ExpressionLimits
  ) {
    var (start, end) = (start, end)
    while start < end, Lexer.isSpace(bytes[start]) { start += 1 }
    while start < end, Lexer.isSpace(bytes[end - 1]) { end -= 1 }
    bounds = SourceRange(start: start, end: end)
    self.limits = limits
    lexer = Lexer(bytes, from: start, to: end)
  }

  mutating func parse() throws(ExpressionError) -> (
    root: ExpressionNode, range: SourceRange, isEmpty: Bool
  ) {
    let count = Int(bounds.end - bounds.start)
    guard count <= limits.bytes else {
      throw ExpressionError(.tooLong(count, limit: limits.bytes), bounds)
    }
    try advance()
    if token.kind == .end { return (ExpressionNode(.literal(.null), bounds), bounds, true) }
    let root = try expression()
    guard token.kind == .end else { throw unexpected() }
    return (root, bounds, false)
  }

  // MARK: Operators

  mutating func expression() throws(ExpressionError) -> ExpressionNode {
    try descend()
    defer { depth -= 1 }
    return try operation(atLeast: .or)
  }

  /// Parses an operand with all following operators that bind at least as tightly as `precedence` (precedence climbing,
  /// Richards 1979): an operand outside of operators does not cost a call per precedence level.
  private mutating func operation(
    atLeast precedence: Precedence
  ) throws(ExpressionError) -> ExpressionNode {
    var left = try unary()
    var comparisonCount = 0
    while let operation = Precedence(token.kind), operation >= precedence {
      switch operation {
      case .and, .or:
        ascend(max(comparisonCount - 1, 0))
        comparisonCount = 0
        left = try chain(of: operation, after: left)
      case .equality, .order:
        if comparisonCount > 0 { try descend() }
        comparisonCount += 1
        left = try comparison(of: left, operation)
      }
    }
    ascend(max(comparisonCount - 1, 0))
    return left
  }

  /// Parses `&& b && c` or `|| b || c`.
  private mutating func chain(
    of operation: Precedence, after first: ExpressionNode
  ) throws(ExpressionError) -> ExpressionNode {
    try descend()
    defer { depth -= 1 }
    var operands: [ExpressionNode] = []
    operands.reserveCapacity(2)
    operands.append(first)
    let kind = token.kind
    while token.kind == kind {
      try advance()
      operands.append(try self.operation(atLeast: operation == .or ? .and : .equality))
    }
    let range = SourceRange(from: first.range, to: operands[operands.count - 1].range)
    return try node(operation == .or ? .any(operands) : .all(operands), range)
  }

  private mutating func comparison(
    of left: ExpressionNode, _ operation: Precedence
  ) throws(ExpressionError) -> ExpressionNode {
    guard let comparison = token.comparison else { return left }
    try advance()
    let right = try operation == .order ? unary() : self.operation(atLeast: .order)
    return try node(
      .comparison(comparison, left, right), SourceRange(from: left.range, to: right.range))
  }

  private mutating func unary() throws(ExpressionError) -> ExpressionNode {
    guard token.kind == .not else { return try accesses() }
    try descend()
    defer { depth -= 1 }
    let start = token.range
    try advance()
    let operand = try unary()
    return try node(.not(operand), SourceRange(from: start, to: operand.range))
  }

  // MARK: Tokens and limits

  mutating func advance() throws(ExpressionError) {
    last = token
    token = try lexer.next()
  }

  mutating func expect(_ kind: Token.Kind) throws(ExpressionError) {
    guard token.kind == kind else { throw unexpected() }
    try advance()
  }

  /// The fault for an unexpected token, or for an end after which more must follow.
  func unexpected() -> ExpressionError {
    token.kind == .end
      ? ExpressionError(.unexpectedEnd(after: text(of: last)), last.range)
      : ExpressionError(.unexpectedSymbol(text(of: token)), token.range)
  }

  func text(of token: Token) -> String { lexer.text(token.start, token.end) }

  /// Goes one level deeper; the caller must ascend again.
  mutating func descend() throws(ExpressionError) {
    depth += 1
    guard depth <= limits.depth else {
      throw ExpressionError(
        .tooDeep(limit: limits.depth), token.kind == .end ? last.range : token.range)
    }
  }

  mutating func ascend(_ levels: Int) { depth -= levels }

  mutating func node(
    _ form: ExpressionNode.Form, _ range: SourceRange
  ) throws(ExpressionError) -> ExpressionNode {
    nodeCount += 1
    guard nodeCount <= limits.nodes else {
      throw ExpressionError(.tooManyParts(limit: limits.nodes), range)
    }
    return ExpressionNode(form, range)
  }
}

extension SourceRange {
  init(from first: SourceRange, to last: SourceRange) {
    self.init(start: Int(first.start), end: Int(last.end))
  }
}

/// The precedence of binary operators, from loose to tight.
private enum Precedence: Int, Comparable {
  case or, and, equality, order

  /// `nil` if the token is not a binary operator.
  init?(_ kind: Token.Kind) {
    switch kind {
    case .or: self = .or
    case .and: self = .and
    case .equal, .notEqual: self = .equality
    case .less, .lessOrEqual, .greater, .greaterOrEqual: self = .order
    default: return nil
    }
  }

  static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }
}
