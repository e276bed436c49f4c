/// Random numbers that a seed determines, so that a failing test can be repeated.
///
/// The numbers are those of SplitMix64 (Steele, Lea and Flood 2014, as published by Vigna) on every
/// platform. For tests only: they can be predicted.
///
/// ```swift
/// @Test(arguments: 0..<100 as Range<UInt64>)
/// func holdsInAnyOrder(seed: UInt64) {
///   var random = SeededGenerator(seed: seed)
///   let order = (1...10).shuffled(using: &random)
/// ```
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Neighbouring seeds give unrelated numbers.
  public init(seed: UInt64) {
    state = seed
  }

  /// The next number; all 2⁶⁴ values occur once in a period.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
