import WeftDiagnostics

/// Operands and accesses.
extension Parser {
  /// The value being accessed; `nil` is the reference whose names are the last in `names`.
  private typealias Base = ExpressionNode?

  mutating func accesses() throws(ExpressionError) -> ExpressionNode {
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
    return try taking(&base, from: firstName)
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
  private mutating func taking(
    _ base: inout Base, from firstName: Int
  ) throws(ExpressionError) -> ExpressionNode {
    if let base { return base }
    let reference = ContextReference(takeNames(from: firstName))
    return try node(.reference(reference), reference.range)
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
    guard case .reference(let reference) = inner.form else { return inner }
    names.append(contentsOf: reference.names)
    return nil
  }

  private mutating func nameOrCall() throws(ExpressionError) -> Base {
    let name = ContextReference.Name(text(of: token), token.range)
    try advance()
    guard token.kind == .openParenthesis else {
      if names.isEmpty { names.reserveCapacity(4) }
      names.append(name)
      return nil
    }
    return try call(of: name, with: arguments())
  }

  private mutating func call(
    of name: ContextReference.Name, with arguments: [ExpressionNode]
  ) throws(ExpressionError) -> ExpressionNode {
    guard let function = ExpressionFunction(named: name.text) else {
      throw ExpressionError(.unknownFunction(name.text), name.range)
    }
    guard function.takes(arguments.count) else {
      throw ExpressionError(.argumentCount(function, found: arguments.count), name.range)
    }
    return try node(.call(function, arguments), SourceRange(from: name.range, to: last.range))
  }

  private mutating func arguments() throws(ExpressionError) -> [ExpressionNode] {
    try advance()
    var arguments: [ExpressionNode] = []
    if token.kind != .closeParenthesis {
      arguments.append(try expression())
      while token.kind == .comma {
        try advance()
        arguments.append(try expression())
      }
    }
    try expect(.closeParenthesis)
    return arguments
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
