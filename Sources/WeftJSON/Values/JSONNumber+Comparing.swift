extension JSONNumber: Comparable {
  /// Compares exact values.
  public static func < (left: JSONNumber, right: JSONNumber) -> Bool {
    guard let left = JSONDecimal(left.text), let right = JSONDecimal(right.text) else {
      preconditionFailure("a JSON number holds none")
    }
    return left < right
  }
}

extension JSONNumber {
  /// Whether the value is a whole number, however it is written: `5.0` and `1e2` are whole.
  public var isWhole: Bool { (JSONDecimal(text)?.exponent ?? -1) >= 0 }

  /// The maximum number of significant digits in a divisor of ``isMultiple(of:)``.
  package static let longestDivisor = 18

  /// Whether the exact division has no remainder: `0.3` is a multiple of `0.1`.
  ///
  /// - Returns: `nil` if the divisor is not greater than zero, or has more than ``longestDivisor`` significant digits.
  package func isMultiple(of divisor: JSONNumber) -> Bool? {
    guard let number = JSONDecimal(text), let divisor = JSONDecimal(divisor.text) else {
      return nil
    }
    return number.isMultiple(of: divisor)
  }
}

extension JSONDecimal {
  static func < (left: JSONDecimal, right: JSONDecimal) -> Bool {
    let (leftSign, rightSign) = (left.sign, right.sign)
    guard leftSign == rightSign else { return leftSign < rightSign }
    guard leftSign != 0 else { return false }
    return leftSign > 0 ? left.isSmaller(than: right) : right.isSmaller(than: left)
  }

  private var sign: Int { digits == "0" ? 0 : isNegative ? -1 : 1 }

  /// Compares magnitudes; neither is zero.
  private func isSmaller(than other: JSONDecimal) -> Bool {
    let (mine, others) = (digits.utf8.count + exponent, other.digits.utf8.count + other.exponent)
    return mine == others ? digits.utf8.lexicographicallyPrecedes(other.digits.utf8) : mine < others
  }

  fileprivate func isMultiple(of divisor: JSONDecimal) -> Bool? {
    guard divisor.sign > 0, divisor.digits.utf8.count <= JSONNumber.longestDivisor,
      let modulus = UInt64(divisor.digits)
    else { return nil }
    if sign == 0 { return true }
    // Neither ends in a zero, so a multiple cannot end further right than the divisor.
    guard exponent >= divisor.exponent else { return false }
    let remainder = digits.utf8.reduce(UInt64(0)) { remainder, digit in
      (remainder.multiplied(by: 10, modulo: modulus) + UInt64(digit - UInt8(ascii: "0"))) % modulus
    }
    let shift = UInt64(10 % modulus).raised(to: exponent - divisor.exponent, modulo: modulus)
    return remainder.multiplied(by: shift, modulo: modulus) == 0
  }
}

extension UInt64 {
  fileprivate func multiplied(by factor: UInt64, modulo modulus: UInt64) -> UInt64 {
    let product = (self % modulus).multipliedFullWidth(by: factor % modulus)
    return modulus.dividingFullWidth(product).remainder
  }

  /// Raises by repeated squaring.
  fileprivate func raised(to power: Int, modulo modulus: UInt64) -> UInt64 {
    var (result, square, power) = (1 % modulus, self % modulus, power)
    while power > 0 {
      if power & 1 == 1 { result = result.multiplied(by: square, modulo: modulus) }
      square = square.multiplied(by: square, modulo: modulus)
      power >>= 1
    }
    return result
  }
}
