/// A pattern as instructions for a machine that is at many positions at once (K. Thompson 1968; R.
/// Cox, "Regular Expression Matching: the Virtual Machine Approach", 2009).
struct PatternProgram: Sendable {
  /// Contains only numbers, so that copying it counts no references.
  enum Instruction: Sendable {
    /// Continues with the next instruction if the next scalar is in this one of ``sets``.
    case scalars(Int32)
    /// Continues if this holds here.
    case assertion(PatternAssertion)
    /// Continues at both.
    case split(Int32, Int32)
    case jump(Int32)
    case match
  }

  private(set) var instructions: [Instruction] = []
  /// Without duplicates.
  private(set) var sets: [ScalarSet] = []
  private var places: [ScalarSet: Int32] = [:]

  /// - Throws: A fault if the expanded repetitions are more than ``PatternLimits/instructions``.
  init(_ node: PatternNode, of text: String) throws(PatternError) {
    guard node.size < PatternLimits.instructions else {
      throw PatternError(.tooLarge, 0..<text.utf8.count)
    }
    append(node)
    instructions.append(.match)
  }

  private var end: Int32 { Int32(instructions.count) }

  private mutating func place(of set: ScalarSet) -> Int32 {
    if let place = places[set] { return place }
    let place = Int32(sets.count)
    sets.append(set)
    places[set] = place
    return place
  }

  private mutating func append(_ node: PatternNode) {
    switch node {
    case .scalars(let set): instructions.append(.scalars(place(of: set)))
    case .assertion(let assertion): instructions.append(.assertion(assertion))
    case .sequence(let parts): for part in parts { append(part) }
    case .alternatives(let choices): append(alternatives: choices[...])
    case .repetition(let part, let least, let most):
      for _ in 0..<least { append(part) }
      if let most { append(optional: part, times: most - least) } else { append(looping: part) }
    }
  }

  private mutating func append(alternatives choices: ArraySlice<PatternNode>) {
    var jumps: [Int] = []
    for choice in choices.dropLast() {
      let split = reserve()
      append(choice)
      jumps.append(reserve())
      instructions[split] = .split(Int32(split) + 1, end)
    }
    append(choices.last!)
    for jump in jumps { instructions[jump] = .jump(end) }
  }

  private mutating func append(looping part: PatternNode) {
    let split = reserve()
    append(part)
    instructions.append(.jump(Int32(split)))
    instructions[split] = .split(Int32(split) + 1, end)
  }

  private mutating func append(optional part: PatternNode, times: Int) {
    var splits: [Int] = []
    for _ in 0..<times {
      splits.append(reserve())
      append(part)
    }
    for split in splits { instructions[split] = .split(Int32(split) + 1, end) }
  }

  /// Reserves a place for an instruction that is known later.
  private mutating func reserve() -> Int {
    instructions.append(.jump(0))
    return instructions.count - 1
  }
}

extension PatternNode {
  /// A lower bound on the number of its instructions, at least 1; it does not overflow.
  fileprivate var size: Int {
    switch self {
    case .scalars, .assertion: 1
    case .sequence(let parts): max(1, PatternNode.sum(parts))
    case .alternatives(let choices): PatternNode.sum(choices) + 2 * (choices.count - 1)
    case .repetition(let part, let least, let most):
      // Counts and sizes are limited, so that a product is far from overflowing.
      min(part.size, PatternLimits.instructions) * max(1, most ?? least + 1)
        + (most.map { $0 - least } ?? 2)
    }
  }

  private static func sum(_ parts: [PatternNode]) -> Int {
    parts.reduce(0) { $0 + min($1.size, PatternLimits.instructions) }
  }
}
