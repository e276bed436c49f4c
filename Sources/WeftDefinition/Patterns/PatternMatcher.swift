/// Walks once over a text, in all places of a program that could have been reached: the time is at most
/// the length of the text times that of the program, whatever both are.
struct PatternMatcher {
  private let instructions: [PatternProgram.Instruction]

  /// What stands on both sides of a position.
  private struct Position {
    var before: Unicode.Scalar?
    var after: Unicode.Scalar?
  }

  /// Instructions, each once; cleared at no cost.
  private struct Places {
    /// Those that take a scalar.
    var waiting: [Int] = []
    /// Where still to go without taking one.
    var pending: [Int] = []
    private var seen: [Int]
    private var round = 1

    init(count: Int) { seen = [Int](repeating: 0, count: count) }

    mutating func clear() {
      waiting.removeAll(keepingCapacity: true)
      round += 1
    }

    /// `false` where it was seen before.
    mutating func insert(_ place: Int) -> Bool {
      guard seen[place] != round else { return false }
      seen[place] = round
      return true
    }
  }

  init(_ program: PatternProgram) {
    instructions = program.instructions
  }

  /// Whether some part of the text matches.
  func finds(in text: String) -> Bool {
    var current = Places(count: instructions.count)
    var following = current
    var scalars = text.unicodeScalars.makeIterator()
    var position = Position(before: nil, after: scalars.next())
    while true {
      if enter(0, at: position, &current) { return true }
      guard let scalar = position.after else { return false }
      position = Position(before: scalar, after: scalars.next())
      following.clear()
      for place in current.waiting {
        guard case .scalars(let set) = instructions[place], set.contains(scalar) else { continue }
        if enter(place + 1, at: position, &following) { return true }
      }
      swap(&current, &following)
    }
  }

  /// Goes on from an instruction to all that wait for a scalar; `true` where it comes to the end.
  private func enter(_ start: Int, at position: Position, _ places: inout Places) -> Bool {
    places.pending.append(start)
    while let place = places.pending.popLast() {
      guard places.insert(place) else { continue }
      switch instructions[place] {
      case .scalars: places.waiting.append(place)
      case .assertion(let assertion):
        if PatternMatcher.holds(assertion, at: position) { places.pending.append(place + 1) }
      case .split(let one, let other): places.pending += [one, other]
      case .jump(let target): places.pending.append(target)
      case .match: return true
      }
    }
    return false
  }

  private static func holds(_ assertion: PatternAssertion, at position: Position) -> Bool {
    switch assertion {
    case .start: position.before == nil
    case .end: position.after == nil
    case .wordBoundary: isWord(position.before) != isWord(position.after)
    case .noWordBoundary: isWord(position.before) == isWord(position.after)
    }
  }

  private static func isWord(_ scalar: Unicode.Scalar?) -> Bool {
    scalar.map(ScalarSet.wordScalars.contains) ?? false
  }
}
