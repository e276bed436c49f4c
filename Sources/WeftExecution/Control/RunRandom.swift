/// A random number generator that a seed reproduces: SplitMix64 (Steele, Lea, Flood, "Fast splittable
/// pseudorandom number generators", 2014).
struct RunRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// - Parameter seed: `nil` for an unpredictable one.
  init(seed: UInt64?) {
    state = seed ?? .random(in: .min ... .max)
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A further generator, independent of the later values of this one.
  mutating func split() -> RunRandom { RunRandom(seed: next()) }
}
