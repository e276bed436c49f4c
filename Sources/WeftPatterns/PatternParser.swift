/// Parses a pattern: the regular expressions of ECMA-262 §22.2 with the `u` flag, as JSON Schema
/// requires, without the features that make matching slow (lookaround, backreferences).
///
/// As an extension, any ASCII punctuation may be escaped. Lazy repetitions are accepted but have no
/// effect: the only question is whether the text matches.
struct PatternParser {
  private let scalars: [Unicode.Scalar]
  /// The UTF-8 offset of each scalar, and of the end of the text.
  private let offsets: [Int]
  var at = 0
  private var depth = 0

  static func parse(_ text: String) throws(PatternError) -> PatternNode {
    guard text.utf8.count <= PatternLimits.bytes else {
      throw PatternError(.tooLong(bytes: text.utf8.count), 0..<text.utf8.count)
    }
    var parser = PatternParser(text)
    let node = try parser.alternatives()
    if let next = parser.next { throw parser.fault(.unopened(Character(next)), from: parser.at, 1) }
    return node
  }

  private init(_ text: String) {
    scalars = Array(text.unicodeScalars)
    var offsets = [0]
    for scalar in scalars { offsets.append(offsets.last! + UTF8.width(scalar)) }
    self.offsets = offsets
  }

  // MARK: Structure

  private mutating func alternatives() throws(PatternError) -> PatternNode {
    var found = [try sequence()]
    while take("|") { found.append(try sequence()) }
    return found.count == 1 ? found[0] : .alternatives(found)
  }

  private mutating func sequence() throws(PatternError) -> PatternNode {
    var parts: [PatternNode] = []
    while let next, next != "|", next != ")" { parts.append(try term()) }
    return parts.count == 1 ? parts[0] : .sequence(parts)
  }

  private mutating func term() throws(PatternError) -> PatternNode {
    let node = try atom()
    let mark = at
    guard let (least, most) = try count() else { return node }
    if case .assertion = node {
      throw fault(.nothingToRepeat(String(scalars[mark])), from: mark, 1)
    }
    take("?")
    if let next, "*+?".unicodeScalars.contains(next) {
      throw fault(.repeatedTwice(String(next)), from: at, 1)
    }
    return .repetition(node, least: least, most: most)
  }

  private mutating func atom() throws(PatternError) -> PatternNode {
    let start = at
    guard let scalar = pop() else { preconditionFailure("nothing to read") }
    switch scalar {
    case "^": return .assertion(.start)
    case "$": return .assertion(.end)
    case ".": return .scalars(ScalarSet.lineEnds.inverted())
    case "(": return try group(from: start)
    case "[": return .scalars(try scalarClass(from: start))
    case "\\": return try escaped(from: start)
    case "*", "+", "?": throw fault(.nothingToRepeat(String(scalar)), from: start, 1)
    case "{": throw fault(.malformedCount, from: start, 1)
    case "]", "}": throw fault(.unopened(Character(scalar)), from: start, 1)
    default: return .scalars(.scalar(scalar))
    }
  }

  private mutating func group(from start: Int) throws(PatternError) -> PatternNode {
    if take("?") { try groupKind(from: start) }
    depth += 1
    defer { depth -= 1 }
    guard depth <= PatternLimits.depth else { throw fault(.tooDeep, from: start, 1) }
    let inside = try alternatives()
    guard take(")") else { throw fault(.unclosedGroup, from: start, at - start) }
    return inside
  }

  private mutating func groupKind(from start: Int) throws(PatternError) {
    if take(":") { return }
    if take("=") || take("!") { throw fault(.lookaround(text(from: start)), from: start) }
    guard take("<") else {
      throw fault(.unknownGroup(text(from: start)), from: start)
    }
    if take("=") || take("!") { throw fault(.lookaround(text(from: start)), from: start) }
    while let next, ScalarSet.wordScalars.contains(next) { at += 1 }
    guard take(">") else { throw fault(.unknownGroup(text(from: start)), from: start) }
  }

  /// Reads `*`, `+`, `?`, `{3}`, `{3,}` or `{3,5}`.
  private mutating func count() throws(PatternError) -> (least: Int, most: Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    let start = at
    guard take("{") else { return nil }
    guard let least = try number() else { throw fault(.malformedCount, from: start, 1) }
    var most: Int? = least
    if take(",") { most = try number() }
    guard take("}") else { throw fault(.malformedCount, from: start, 1) }
    if let most, most < least { throw fault(.countsOutOfOrder(least, most), from: start) }
    return (least, most)
  }

  private mutating func number() throws(PatternError) -> Int? {
    let start = at
    while let next, ScalarSet.digits.contains(next) { at += 1 }
    guard at > start else { return nil }
    guard let number = Int(text(from: start)), number <= PatternLimits.instructions else {
      throw fault(.countTooLarge(text(from: start)), from: start)
    }
    return number
  }

  private mutating func escaped(from start: Int) throws(PatternError) -> PatternNode {
    switch next {
    case "b":
      at += 1
      return .assertion(.wordBoundary)
    case "B":
      at += 1
      return .assertion(.noWordBoundary)
    default: return .scalars(try escape(from: start).set)
    }
  }

  // MARK: Reading

  var next: Unicode.Scalar? { at < scalars.count ? scalars[at] : nil }

  mutating func pop() -> Unicode.Scalar? {
    guard let next else { return nil }
    at += 1
    return next
  }

  @discardableResult
  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    at += 1
    return true
  }

  func text(from start: Int) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars[start..<at])
    return String(text)
  }

  /// A fault that covers `count` scalars, or everything read since `start`.
  func fault(_ kind: PatternError.Kind, from start: Int, _ count: Int? = nil) -> PatternError {
    PatternError(kind, offsets[start]..<offsets[min(start + (count ?? at - start), scalars.count)])
  }
}

/// Classes and escapes.
extension PatternParser {
  /// The meaning of an escape, or of a character in a class.
  enum Meaning {
    case one(Unicode.Scalar)
    case any(ScalarSet)

    var set: ScalarSet {
      switch self {
      case .one(let scalar): .scalar(scalar)
      case .any(let set): set
      }
    }
  }

  // MARK: Classes

  /// Reads a class from after the `[`.
  mutating func scalarClass(from start: Int) throws(PatternError) -> ScalarSet {
    let isInverted = take("^")
    var set = ScalarSet()
    while !take("]") {
      let first = at
      let low = try classMember(of: start)
      guard next == "-", !isLastInClass else {
        set.add(low.set)
        continue
      }
      at += 1
      set.add(try range(from: low, at: first, of: start))
    }
    return isInverted ? set.inverted() : set
  }

  /// Reads a range from after the `-`.
  private mutating func range(
    from low: Meaning, at first: Int, of start: Int
  ) throws(PatternError) -> ScalarSet {
    let high = try classMember(of: start)
    guard case .one(let low) = low, case .one(let high) = high else {
      throw fault(.classInRange(text(from: first)), from: first)
    }
    guard low <= high else { throw fault(.rangeOutOfOrder(text(from: first)), from: first) }
    return ScalarSet([low.value...high.value])
  }

  /// Whether the next `-` is before the `]`, and so is literal.
  private var isLastInClass: Bool {
    var ahead = self
    return ahead.take("-") && ahead.next == "]"
  }

  private mutating func classMember(of start: Int) throws(PatternError) -> Meaning {
    let first = at
    guard let scalar = pop() else { throw fault(.unclosedClass, from: start) }
    guard scalar == "\\" else { return .one(scalar) }
    return take("b") ? .one("\u{8}") : try escape(from: first)
  }

  // MARK: Escapes

  /// Reads an escape from after the backslash.
  mutating func escape(from start: Int) throws(PatternError) -> Meaning {
    guard let scalar = pop() else { throw fault(.trailingBackslash, from: start) }
    switch scalar {
    case "d": return .any(.digits)
    case "D": return .any(ScalarSet.digits.inverted())
    case "w": return .any(.wordScalars)
    case "W": return .any(ScalarSet.wordScalars.inverted())
    case "s": return .any(.spaces)
    case "S": return .any(ScalarSet.spaces.inverted())
    case "t": return .one("\t")
    case "n": return .one("\n")
    case "v": return .one("\u{B}")
    case "f": return .one("\u{C}")
    case "r": return .one("\r")
    case "0" where next.map(ScalarSet.digits.contains) != true: return .one("\0")
    case "c": return .one(try control(from: start))
    case "x": return .one(try code(digits: 2, from: start))
    case "u": return .one(try unicode(from: start))
    case "p", "P": return .any(try category(isInverted: scalar == "P", from: start))
    case "1"..."9", "k": throw fault(.backreference(text(from: start)), from: start)
    default:
      guard scalar.isASCIIPunctuation else {
        throw fault(.unknownEscape(text(from: start)), from: start)
      }
      return .one(scalar)
    }
  }

  private mutating func control(from start: Int) throws(PatternError) -> Unicode.Scalar {
    guard let letter = pop(), letter.isASCII, letter.properties.isAlphabetic else {
      throw fault(.malformedCode(text(from: start)), from: start)
    }
    return Unicode.Scalar(UInt8(letter.value & 0x1F))
  }

  private mutating func unicode(from start: Int) throws(PatternError) -> Unicode.Scalar {
    guard take("{") else { return try codeUnits(from: start) }
    let first = at
    while let next, next.properties.isASCIIHexDigit { at += 1 }
    let digits = text(from: first)
    guard take("}"), digits.utf8.count <= 8, let value = UInt32(digits, radix: 16),
      let scalar = Unicode.Scalar(value)
    else { throw fault(.malformedCode(text(from: start)), from: start) }
    return scalar
  }

  /// Reads four digits, or a surrogate pair of twice four.
  private mutating func codeUnits(from start: Int) throws(PatternError) -> Unicode.Scalar {
    let high = try number(digits: 4, from: start)
    if let scalar = Unicode.Scalar(high) { return scalar }
    guard high < 0xDC00, take("\\"), take("u") else {
      throw fault(.malformedCode(text(from: start)), from: start)
    }
    let low = try number(digits: 4, from: start)
    guard (0xDC00...0xDFFF).contains(low),
      let scalar = Unicode.Scalar(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    else { throw fault(.malformedCode(text(from: start)), from: start) }
    return scalar
  }

  private mutating func code(
    digits: Int, from start: Int
  ) throws(PatternError) -> Unicode.Scalar {
    guard let scalar = Unicode.Scalar(try number(digits: digits, from: start)) else {
      throw fault(.malformedCode(text(from: start)), from: start)
    }
    return scalar
  }

  private mutating func number(digits: Int, from start: Int) throws(PatternError) -> UInt32 {
    let first = at
    while at - first < digits, let next, next.properties.isASCIIHexDigit { at += 1 }
    guard at - first == digits, let value = UInt32(text(from: first), radix: 16) else {
      throw fault(.malformedCode(text(from: start)), from: start)
    }
    return value
  }

  private mutating func category(
    isInverted: Bool, from start: Int
  ) throws(PatternError) -> ScalarSet {
    guard take("{") else { throw fault(.unknownEscape(text(from: start)), from: start) }
    let first = at
    while let next, next != "}", next != "]", next != ")" { at += 1 }
    let name = text(from: first)
    guard let test = ScalarSet.CategoryTest(named: name, isInverted: isInverted), take("}") else {
      throw fault(.unknownCategory(name), from: start)
    }
    return ScalarSet(test)
  }
}

extension Unicode.Scalar {
  fileprivate var isASCIIPunctuation: Bool {
    (0x21...0x7E).contains(value) && !ScalarSet.wordScalars.contains(self) || self == "_"
  }
}
