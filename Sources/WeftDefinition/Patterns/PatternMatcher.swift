/// Walks once over a text, in all places of a program that could have been reached: the time is at most
/// the length of the text times that of the program, whatever both are.
struct PatternMatcher {
  private let program: PatternProgram

  init(_ program: PatternProgram) {
    self.program = program
  }

  /// Whether some part of the text matches.
  func finds(in text: String) -> Bool {
    let size = PatternWalk.size(for: program)
    return withUnsafeTemporaryAllocation(of: Int32.self, capacity: size) { space in
      program.instructions.withUnsafeBufferPointer { instructions in
        program.sets.withUnsafeBufferPointer { sets in
          var walk = PatternWalk(instructions, sets, space)
          return walk.finds(in: text)
        }
      }
    }
  }
}

/// One walk; it holds pointers into the memory of ``PatternMatcher/finds(in:)`` and lives inside it.
private struct PatternWalk {
  private let instructions: UnsafeBufferPointer<PatternProgram.Instruction>
  private let sets: UnsafeBufferPointer<ScalarSet>
  private var current: Places
  private var following: Places
  /// Where still to go without taking a scalar.
  private let pending: UnsafeMutableBufferPointer<Int32>
  /// Of each set, twice the number of the last scalar that was looked for, and 1 more if it was there.
  private let answers: UnsafeMutableBufferPointer<Int32>
  private var before: Unicode.Scalar?
  private var after: Unicode.Scalar?
  /// How many scalars were taken, and one more.
  private var count: Int32 = 1

  /// Instructions, each once, that take a scalar.
  private struct Places {
    let waiting: UnsafeMutableBufferPointer<Int32>
    var waitingCount = 0
    /// Of each instruction, the last round in which it was seen.
    private let seen: UnsafeMutableBufferPointer<Int32>
    private var round: Int32 = 1

    init(_ waiting: UnsafeMutableBufferPointer<Int32>, _ seen: UnsafeMutableBufferPointer<Int32>) {
      self.waiting = waiting
      self.seen = seen
    }

    mutating func clear() {
      waitingCount = 0
      round += 1
    }

    /// `false` where it was seen before.
    mutating func insert(_ place: Int32) -> Bool {
      guard seen[Int(place)] != round else { return false }
      seen[Int(place)] = round
      return true
    }

    mutating func wait(at place: Int32) {
      waiting[waitingCount] = place
      waitingCount += 1
    }
  }

  /// Each instruction is entered once in a round and leads to two others at most.
  static func size(for program: PatternProgram) -> Int {
    program.instructions.count * 6 + 1 + program.sets.count
  }

  init(
    _ instructions: UnsafeBufferPointer<PatternProgram.Instruction>,
    _ sets: UnsafeBufferPointer<ScalarSet>, _ space: UnsafeMutableBufferPointer<Int32>
  ) {
    self.instructions = instructions
    self.sets = sets
    space.initialize(repeating: 0)
    var start = 0
    func part(_ count: Int) -> UnsafeMutableBufferPointer<Int32> {
      defer { start += count }
      return UnsafeMutableBufferPointer(rebasing: space[start..<start + count])
    }
    current = Places(part(instructions.count), part(instructions.count))
    following = Places(part(instructions.count), part(instructions.count))
    pending = part(instructions.count * 2 + 1)
    answers = part(sets.count)
  }

  mutating func finds(in text: String) -> Bool {
    var scalars = text.unicodeScalars.makeIterator()
    after = scalars.next()
    while true {
      if enter(0, &current) { return true }
      guard let scalar = after else { return false }
      (before, after) = (scalar, scalars.next())
      following.clear()
      for index in 0..<current.waitingCount {
        let place = current.waiting[index]
        guard takes(scalar, place) else { continue }
        if enter(place + 1, &following) { return true }
      }
      swap(&current, &following)
      count += 1
    }
  }

  /// Asks each set once for each scalar.
  private func takes(_ scalar: Unicode.Scalar, _ place: Int32) -> Bool {
    guard case .scalars(let set) = instructions[Int(place)] else { return false }
    let known = answers[Int(set)]
    if known >> 1 == count { return known & 1 == 1 }
    let answer = sets[Int(set)].contains(scalar)
    answers[Int(set)] = count << 1 | (answer ? 1 : 0)
    return answer
  }

  /// Goes on from an instruction to all that take a scalar; `true` where it comes to the end.
  private func enter(_ start: Int32, _ places: inout Places) -> Bool {
    var top = 0
    pending[0] = start
    while top >= 0 {
      let place = pending[top]
      top -= 1
      guard places.insert(place) else { continue }
      switch instructions[Int(place)] {
      case .scalars: places.wait(at: place)
      case .assertion(let assertion):
        guard holds(assertion) else { continue }
        top += 1
        pending[top] = place + 1
      case .split(let one, let other):
        pending[top + 1] = one
        pending[top + 2] = other
        top += 2
      case .jump(let target):
        top += 1
        pending[top] = target
      case .match: return true
      }
    }
    return false
  }

  private func holds(_ assertion: PatternAssertion) -> Bool {
    switch assertion {
    case .start: before == nil
    case .end: after == nil
    case .wordBoundary: isWord(before) != isWord(after)
    case .noWordBoundary: isWord(before) == isWord(after)
    }
  }

  private func isWord(_ scalar: Unicode.Scalar?) -> Bool {
    scalar.map(ScalarSet.wordScalars.contains) ?? false
  }
}
