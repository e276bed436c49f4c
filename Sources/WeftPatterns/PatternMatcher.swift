/// Walks over a text once, at all positions of a program that could have been reached: the time is at
/// most the length of the text times that of the program.
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

/// One walk; it holds pointers into the memory of ``PatternMatcher/finds(in:)`` and must not outlive
/// that call.
private struct PatternWalk {
  private let instructions: UnsafeBufferPointer<PatternProgram.Instruction>
  private let sets: UnsafeBufferPointer<ScalarSet>
  private var current: Places
  private var following: Places
  /// Instructions to enter without taking a scalar.
  private let pending: UnsafeMutableBufferPointer<Int32>
  /// For each set, twice the number of the last scalar that was looked up, plus 1 if the set contains it.
  private let answers: UnsafeMutableBufferPointer<Int32>
  private var before: Unicode.Scalar?
  private var after: Unicode.Scalar?
  /// The number of scalars taken, plus one.
  private var count: Int32 = 1

  /// Instructions that take a scalar, without duplicates.
  private struct Places {
    let waiting: UnsafeMutableBufferPointer<Int32>
    var waitingCount = 0
    /// For each instruction, the last round in which it was seen.
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

    /// Adds an instruction; `false` if it was already seen in this round.
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

  /// The size of the memory: each instruction is entered once in a round and leads to at most two others.
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

  /// Whether an instruction takes the scalar; looks it up in each set only once.
  private func takes(_ scalar: Unicode.Scalar, _ place: Int32) -> Bool {
    guard case .scalars(let set) = instructions[Int(place)] else { return false }
    let known = answers[Int(set)]
    if known >> 1 == count { return known & 1 == 1 }
    let answer = sets[Int(set)].contains(scalar)
    answers[Int(set)] = count << 1 | (answer ? 1 : 0)
    return answer
  }

  /// Follows an instruction to all that take a scalar; `true` if the end is reached.
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
