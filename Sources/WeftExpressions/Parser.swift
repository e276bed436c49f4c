import WeftDiagnostics

/// Parses the tokens of an expression into a tree, from left to right.
///
/// From loose to tight: `||`, `&&`, `== !=`, `< <= > >=`, `!`, then accesses. Depth is counted as GitHub counts it, and
/// chains of comparisons, which GitHub does not limit, add to it: no tree is deeper than the limit, so code that walks
/// a tree needs no limit of its own.
struct Parser {
  private var lexer: Lexer
  private let limits: ExpressionLimits
  private let bounds: SourceRange
  private var token = Token(kind: .end, start: 0, end: 0)
  /// The token before ``token``.
  private var last = Token(kind: .end, start: 0, end: 0)
  private var depth = 0
  private var nodeCount = 0
  /// The names of the references being parsed, innermost last.
  private var names: [ContextReference.Name] = []
  /// Whether `item` and `index` are those of a list that a function looks at.
  private let hasElement: Bool

  /// Parses the bytes from `start` to `end`; ranges are offsets in all of `bytes`.
  init(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, limits: ExpressionLimits
  ) {
    let bounds = Lexer(bytes, from: start, to: end).bounds
    self.bounds = bounds
    self.limits = limits
    lexer = Lexer(bytes, from: Int(bounds.start), to: Int(bounds.end))
    hasElement = false
  }

  /// Parses the text of a literal; the limits are those of the whole expression.
  private init(_ text: Lexer, in outer: borrowing Parser) {
    lexer = text
    bounds = text.bounds
    limits = outer.limits
    depth = outer.depth
    nodeCount = outer.nodeCount
    hasElement = true
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

  private mutating func expression() throws(ExpressionError) -> ExpressionNode {
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

  private mutating func advance() throws(ExpressionError) {
    last = token
    token = try lexer.next()
  }

  private mutating func expect(_ kind: Token.Kind) throws(ExpressionError) {
    guard token.kind == kind else {
      guard token.kind == .end, kind == .closeParenthesis else { throw unexpected() }
      throw ExpressionError(.missingParenthesis, last.range)
    }
    try advance()
  }

  /// The fault for an unexpected token, or for an end after which more must follow.
  private func unexpected() -> ExpressionError {
    if token.kind == .end {
      return ExpressionError(.unexpectedEnd(after: text(of: last)), last.range)
    }
    let isNot = last.kind == .name && text(of: last) == "not"
    let symbol = isNot ? last : token
    return ExpressionError(.unexpectedSymbol(text(of: symbol)), symbol.range)
  }

  private func text(of token: Token) -> String { lexer.text(token.start, token.end) }

  /// Goes one level deeper; the caller must ascend again.
  private mutating func descend() throws(ExpressionError) {
    depth += 1
    guard depth <= limits.depth else {
      throw ExpressionError(
        .tooDeep(limit: limits.depth), token.kind == .end ? last.range : token.range)
    }
  }

  private mutating func ascend(_ levels: Int) { depth -= levels }

  private mutating func node(
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

/// Operands and accesses.
extension Parser {
  /// The value being accessed; `nil` is the reference whose names are the last in `names`.
  private typealias Base = ExpressionNode?

  private mutating func accesses() throws(ExpressionError) -> ExpressionNode {
    let start = token.start
    let firstName = names.count
    switch token.kind {
    case .name, .openParenthesis: break
    default: return try literal()
    }
    var base: Base = try token.kind == .name ? nameOrCall() : group()
    var levels = 0
    while token.kind == .dot || token.kind == .openBracket {
      let access = try access()
      try descend()
      levels += 1
      try apply(access, to: &base, from: firstName, start: start)
    }
    ascend(levels)
    return try taking(&base, from: firstName, upTo: last.kind == .closeBracket ? last.end : nil)
  }

  /// Kept apart from ``accesses()``, through which nesting recurses, so that its stack frame stays small.
  private mutating func apply(
    _ access: Access, to base: inout Base, from firstName: Int, start: Int
  ) throws(ExpressionError) {
    let range = SourceRange(start: start, end: last.end)
    switch access {
    case .name(let name) where base == nil: names.append(name)
    case .name(let name):
      let index = try node(.literal(.string(name.text)), name.range)
      base = try node(.index(taking(&base, from: firstName), by: index), range)
    case .index(let index):
      base = try node(.index(taking(&base, from: firstName), by: index), range)
    case .filter: base = try node(.filter(taking(&base, from: firstName)), range)
    }
  }

  /// The base as a node.
  ///
  /// - Parameter end: The end of a bracket around its last name.
  private mutating func taking(
    _ base: inout Base, from firstName: Int, upTo end: Int? = nil
  ) throws(ExpressionError) -> ExpressionNode {
    if let base { return base }
    let reference = ContextReference(takeNames(from: firstName))
    let isElement = hasElement && reference.isOfElement
    var range = reference.range
    if let end { range = SourceRange(start: Int(range.start), end: end) }
    return try node(isElement ? .element(reference) : .reference(reference), range)
  }

  private mutating func takeNames(from first: Int) -> [ContextReference.Name] {
    var taken: [ContextReference.Name] = []
    if first == 0 {
      swap(&taken, &names)
    } else {
      taken = Array(names[first...])
      names.removeSubrange(first...)
    }
    return taken
  }

  // MARK: Accesses

  private enum Access {
    case name(ContextReference.Name)
    case index(ExpressionNode)
    case filter
  }

  /// Leaves the token after the access as the current one.
  private mutating func access() throws(ExpressionError) -> Access {
    let isBracket = token.kind == .openBracket
    try advance()
    let access: Access
    if token.kind == .star {
      access = .filter
      try advance()
    } else if isBracket {
      let index = try expression()
      if case .literal(.string(let text)) = index.form {
        access = .name(ContextReference.Name(text, index.range))
      } else {
        access = .index(index)
      }
    } else {
      guard token.kind == .name else { throw unexpected() }
      access = .name(ContextReference.Name(text(of: token), token.range))
      try advance()
    }
    if isBracket { try expect(.closeBracket) }
    return access
  }

  // MARK: Operands

  private mutating func group() throws(ExpressionError) -> Base {
    try advance()
    let inner = try expression()
    try expect(.closeParenthesis)
    switch inner.form {
    case .reference(let reference), .element(let reference):
      names.append(contentsOf: reference.names)
      return nil
    default: return inner
    }
  }

  private mutating func nameOrCall() throws(ExpressionError) -> Base {
    let name = ContextReference.Name(text(of: token), token.range)
    try advance()
    guard token.kind == .openParenthesis else {
      if names.isEmpty { names.reserveCapacity(4) }
      names.append(name)
      return nil
    }
    let function = ExpressionFunction(named: name.text)
    return try call(of: name, function, with: arguments(of: function))
  }

  private mutating func call(
    of name: ContextReference.Name, _ function: ExpressionFunction?,
    with arguments: [ExpressionNode]
  ) throws(ExpressionError) -> ExpressionNode {
    guard let function else {
      throw ExpressionError(.unknownFunction(name.text), name.range)
    }
    guard function.takes(arguments.count) else {
      throw ExpressionError(.argumentCount(function, found: arguments.count), name.range)
    }
    return try node(.call(function, arguments), SourceRange(from: name.range, to: last.range))
  }

  private mutating func arguments(
    of function: ExpressionFunction?
  ) throws(ExpressionError) -> [ExpressionNode] {
    try advance()
    var arguments: [ExpressionNode] = []
    if token.kind != .closeParenthesis {
      arguments.append(try expression())
      while token.kind == .comma {
        try advance()
        if let function, function.hasBody, arguments.count == 1 {
          arguments.append(try body(of: function))
        } else {
          arguments.append(try expression())
        }
      }
    }
    try expect(.closeParenthesis)
    return arguments
  }

  /// Parses a text literal that is an expression for each element.
  private mutating func body(
    of function: ExpressionFunction
  ) throws(ExpressionError) -> ExpressionNode {
    let first = token
    let written = try expression()
    guard first.kind == .text, case .literal = written.form, written.range == first.range else {
      throw ExpressionError(
        .unquotedBody(function, lexer.text(Int(written.range.start), Int(written.range.end))),
        written.range)
    }
    try descend()
    defer { depth -= 1 }
    var parser = Parser(lexer.inside(first), in: self)
    let parsed = try parser.parse()
    guard !parsed.isEmpty else { throw ExpressionError(.emptyBody(function), written.range) }
    nodeCount = parser.nodeCount
    return parsed.root
  }

  private mutating func literal() throws(ExpressionError) -> ExpressionNode {
    let value: ExpressionValue
    switch token.kind {
    case .number: value = .number(lexer.number)
    case .text: value = .string(lexer.literalText(of: token))
    case .true: value = .boolean(true)
    case .false: value = .boolean(false)
    case .null: value = .null
    default: throw unexpected()
    }
    let range = token.range
    try advance()
    return try node(.literal(value), range)
  }
}

extension ExpressionFunction {
  fileprivate func takes(_ count: Int) -> Bool {
    argumentCounts.contains(count) && (self != .case || !count.isMultiple(of: 2))
  }
}
