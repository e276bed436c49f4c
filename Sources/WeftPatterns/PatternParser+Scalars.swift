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
