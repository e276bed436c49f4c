/// A set of Unicode scalars: sorted, disjoint ranges, and general categories.
struct ScalarSet: Sendable, Hashable {
  private(set) var ranges: [ClosedRange<UInt32>] = []
  private var categories: [CategoryTest] = []
  private(set) var isInverted = false

  /// Scalars of some general categories (Unicode Standard §4.5), or all others.
  struct CategoryTest: Sendable, Hashable {
    var categories: Set<Unicode.GeneralCategory>
    var isInverted: Bool
  }

  init(_ ranges: [ClosedRange<UInt32>] = [], isInverted: Bool = false) {
    self.ranges = ScalarSet.merged(ranges)
    self.isInverted = isInverted
  }

  init(_ category: CategoryTest) { categories = [category] }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    isInverted != (hasRange(around: scalar.value) || hasCategory(of: scalar))
  }

  /// Whether it contains only these scalars.
  func isMade(of allowed: Set<Unicode.Scalar>) -> Bool {
    guard !isInverted, categories.isEmpty else { return false }
    return ranges.allSatisfy { range in
      range.count <= allowed.count
        && range.allSatisfy { Unicode.Scalar($0).map(allowed.contains) ?? false }
    }
  }

  /// Adds the contents of another set.
  mutating func add(_ other: ScalarSet) {
    precondition(!isInverted, "an inverted set is not added to")
    ranges = ScalarSet.merged(
      ranges + (other.isInverted ? ScalarSet.gaps(between: other.ranges) : other.ranges))
    categories += other.categories
  }

  func inverted() -> ScalarSet {
    var set = self
    set.isInverted.toggle()
    return set
  }

  /// Finds the range by bisection.
  private func hasRange(around value: UInt32) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < value {
        low = middle + 1
      } else if ranges[middle].lowerBound > value {
        high = middle
      } else {
        return true
      }
    }
    return false
  }

  private func hasCategory(of scalar: Unicode.Scalar) -> Bool {
    guard !categories.isEmpty else { return false }
    let category = scalar.properties.generalCategory
    return categories.contains { $0.isInverted != $0.categories.contains(category) }
  }

  private static func merged(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var merged: [ClosedRange<UInt32>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, range.lowerBound <= last.upperBound &+ 1 {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }

  private static func gaps(between ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    var gaps: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges {
      if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
      next = range.upperBound + 1
    }
    if next <= 0x10FFFF { gaps.append(next...0x10FFFF) }
    return gaps
  }
}

/// Sets that have names in patterns (ECMA-262 §22.2).
extension ScalarSet {
  static let digits = ScalarSet([0x30...0x39])
  static let wordScalars = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
  /// WhiteSpace and LineTerminator (ECMA-262 §12.2 and §12.3).
  static let spaces = ScalarSet([
    0x09...0x0D, 0x20...0x20, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
    0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000, 0xFEFF...0xFEFF,
  ])
  static let lineEnds = ScalarSet([0x0A...0x0A, 0x0D...0x0D, 0x2028...0x2029])

  static func scalar(_ scalar: Unicode.Scalar) -> ScalarSet {
    ScalarSet([scalar.value...scalar.value])
  }
}

extension ScalarSet.CategoryTest {
  /// Creates the test for the short name of a general category or of a group of them, such as `Lu`
  /// or `L`.
  init?(named name: String, isInverted: Bool) {
    guard !name.isEmpty, name.utf8.count <= 2 else { return nil }
    let members = Self.shortNames.filter { $0.name.hasPrefix(name) }.map(\.category)
    guard !members.isEmpty else { return nil }
    self.init(categories: Set(members), isInverted: isInverted)
  }

  private static let shortNames: [(name: String, category: Unicode.GeneralCategory)] = [
    ("Lu", .uppercaseLetter), ("Ll", .lowercaseLetter), ("Lt", .titlecaseLetter),
    ("Lm", .modifierLetter), ("Lo", .otherLetter), ("Mn", .nonspacingMark),
    ("Mc", .spacingMark), ("Me", .enclosingMark), ("Nd", .decimalNumber), ("Nl", .letterNumber),
    ("No", .otherNumber), ("Pc", .connectorPunctuation), ("Pd", .dashPunctuation),
    ("Ps", .openPunctuation), ("Pe", .closePunctuation), ("Pi", .initialPunctuation),
    ("Pf", .finalPunctuation), ("Po", .otherPunctuation), ("Sm", .mathSymbol),
    ("Sc", .currencySymbol), ("Sk", .modifierSymbol), ("So", .otherSymbol),
    ("Zs", .spaceSeparator), ("Zl", .lineSeparator), ("Zp", .paragraphSeparator),
    ("Cc", .control), ("Cf", .format), ("Cs", .surrogate), ("Co", .privateUse),
    ("Cn", .unassigned),
  ]
}
