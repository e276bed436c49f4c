import Testing
import WeftExecution

/// A sequence that broke a promise once, found by a full count of ``SequenceTests``.
struct KnownSequence: Sendable, CustomTestStringConvertible {
  let seed: UInt64
  var isNested = false
  let fault: String

  var testDescription: String { "seed \(seed)\(isNested ? ", nested" : ""): \(fault)" }

  static let all = [
    KnownSequence(seed: 1738, fault: "counts differ from the report"),
    KnownSequence(seed: 6569, fault: "a group that ended well is judged again"),
    KnownSequence(seed: 9013, fault: "a cleanup pending after a skip is forgotten"),
    KnownSequence(
      seed: 26321, fault: "a group that was done counts as undone when one around it is skipped"),
    KnownSequence(seed: 27460, fault: "counts differ from the report"),
    KnownSequence(seed: 28421, fault: "a former element of a loop is not cleaned up"),
    KnownSequence(seed: 28852, isNested: true, fault: "a step in doubt in a decided race"),
    KnownSequence(seed: 29356, fault: "the report made again lists a void group"),
    KnownSequence(seed: 30285, fault: "the report made again lists a void step"),
    KnownSequence(seed: 45552, fault: "a step in doubt in a decided race, in an element"),
    KnownSequence(seed: 49296, fault: "a rerun in a nested file does not reach the groups outside"),
    KnownSequence(
      seed: 58963,
      fault: "members of a group count although its retry, which was cut off, makes them void"),
    KnownSequence(seed: 60184, fault: "a step in doubt in a decided race, in a matrix"),
    KnownSequence(seed: 88223, fault: "a race cancelled in a tolerant group"),
    KnownSequence(seed: 91134, fault: "a loop that is listed anew"),
  ]
}

@Suite struct KnownSequenceTests {
  @Test("X02, X03, X13, X28: a sequence that failed once", arguments: KnownSequence.all)
  func aKnownSequenceGetsAllItsWorkDone(_ known: KnownSequence) throws {
    let run = try #require(SequencedRun(seed: known.seed, nested: known.isNested))
    var violations = run.violations + run.disagreements
    if !known.isNested {
      violations += ResumeChecker(run.made, run.parts).violations
      violations += ProgressChecker(run.made, run.parts).violations
    }
    #expect(violations.isEmpty, "seed \(known.seed): \(violations.prefix(5))")
  }
}
