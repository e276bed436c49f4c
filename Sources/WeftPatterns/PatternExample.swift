extension Pattern {
  /// Texts in which it matches, the shortest first, each with at least a number of scalars; not all that there are.
  ///
  /// They are made from the parsed pattern: repetitions are as short as the length allows, and each set gives one
  /// scalar. A text that does not match after all, such as one with a word boundary inside a word, is left out.
  package func examples(ofLength least: Int = 0) -> [String] {
    guard least <= PatternExample.mostScalars, let node = try? PatternParser.parse(text) else {
      return []
    }
    var found: [String] = []
    for choice in 0..<PatternExample.mostChoices {
      for extra in 0..<PatternExample.mostLengths {
        let text = PatternExample.text(of: node, choice: choice, least: least + extra)
        guard !found.contains(text), matches(in: text) else { continue }
        found.append(text)
      }
    }
    return found
  }
}

/// One text in the making.
private struct PatternExample {
  static let (mostScalars, mostChoices, mostLengths) = (10_000, 4, 4)

  /// The alternative that is taken, if there are as many.
  let choice: Int
  /// The repetitions that may still be added to the least ones.
  var extra: Int
  var scalars = String.UnicodeScalarView()

  /// Returns a text for the least number of added repetitions that makes it long enough, and fills it up where that is
  /// not enough.
  static func text(of node: PatternNode, choice: Int, least: Int) -> String {
    func made(_ extra: Int) -> String.UnicodeScalarView {
      var example = PatternExample(choice: choice, extra: extra)
      example.append(node)
      return example.scalars
    }
    var (low, high) = (0, least)
    while low < high {
      let middle = (low + high) / 2
      if made(middle).count < least { low = middle + 1 } else { high = middle }
    }
    var scalars = made(low)
    while scalars.count < least { scalars.append("x") }
    return String(scalars)
  }

  private mutating func append(_ node: PatternNode) {
    // Repetitions of repetitions must not take longer than the text may be long.
    guard scalars.count <= PatternExample.mostScalars else { return }
    switch node {
    case .scalars(let set): if let scalar = set.example { scalars.append(scalar) }
    case .assertion: break
    case .sequence(let parts): for part in parts { append(part) }
    case .alternatives(let choices): append(choices[min(choice, choices.count - 1)])
    case .repetition(let part, let least, let most):
      for _ in 0..<least { append(part) }
      let added = min(extra, most.map { $0 - least } ?? extra)
      extra -= added
      for _ in 0..<added { append(part) }
    }
  }
}

extension ScalarSet {
  private static let plain: [Unicode.Scalar] =
    Array("xXaA10-_./ ".unicodeScalars) + (0x21...0x7E).map(Unicode.Scalar.init(_:))

  /// A scalar of it, a plain one if possible; `nil` if none is near.
  fileprivate var example: Unicode.Scalar? {
    ScalarSet.plain.first(where: contains)
      ?? ranges.lazy.compactMap { Unicode.Scalar($0.lowerBound) }.first(where: contains)
      ?? (0...0xFFFF as ClosedRange<UInt32>).lazy.compactMap(Unicode.Scalar.init(_:)).first(
        where: contains)
  }
}
