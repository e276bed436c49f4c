import Testing
import WeftEvents
import WeftExecution

/// A sequence that broke a promise once, found by a full count of ``SequenceTests``.
struct KnownSequence: Sendable, CustomTestStringConvertible {
  let seed: UInt64
  var vocabulary = RandomWorkflow.Vocabulary.values
  var isNested = false
  let fault: String

  var testDescription: String { "seed \(seed)\(isNested ? ", nested" : ""): \(fault)" }

  static let all =
    [1738, 6569, 9013, 27460, 28421, 29356, 30285, 49296, 88223, 91134].map {
      KnownSequence(seed: $0, fault: "found by the first full count")
    } + [
      KnownSequence(seed: 26321, fault: "a group that was done, inside one that is skipped now"),
      KnownSequence(seed: 28852, isNested: true, fault: "a step in doubt in a decided race"),
      KnownSequence(seed: 45552, fault: "a step in doubt in a decided race, in an element"),
      KnownSequence(seed: 58963, fault: "a retry of a group that was cut short"),
      KnownSequence(seed: 60184, fault: "a step in doubt in a decided race, in a matrix"),
      KnownSequence(
        seed: 1623, vocabulary: .services,
        fault: "the need of a step that was skipped if not cancelled()"
      ),
      KnownSequence(seed: 1933, vocabulary: .services, fault: "a service that was started again"),
      KnownSequence(
        seed: 3816, vocabulary: .services,
        fault: "the need of a step that was cancelled, and whose condition turns out to be false"),
      KnownSequence(
        seed: 5928, vocabulary: .services,
        fault: "the need of a cancelled step whose needs are empty, and that reads a group"),
      KnownSequence(
        seed: 7903, vocabulary: .services,
        fault: "the need of a loop that turns out to have no elements"
      ),
      KnownSequence(
        seed: 7725, vocabulary: .services,
        fault: "the need of a plain group that a condition skips, as its members report"),
      KnownSequence(
        seed: 6910, vocabulary: .services,
        fault: "a success before the latest attempt of its group, when the run is suspended"),
      KnownSequence(
        seed: 6036, vocabulary: .services,
        fault: "a service that failed, when only a pending cleanup needed it"),
      KnownSequence(
        seed: 6145, vocabulary: .services,
        fault: "a service that failed for a cleanup, in a group that tolerates failures"
      ),
      KnownSequence(
        seed: 1449, vocabulary: .races,
        fault: "a question in a join that was decided, as a step in it was running in the end"),
    ]
}

@Suite struct KnownSequenceTests {
  @Test("X02, X03, X13, X28: a sequence that failed once", arguments: KnownSequence.all)
  func aKnownSequenceGetsAllItsWorkDone(_ known: KnownSequence) throws {
    let run = try #require(SequencedRun(seed: known.seed, known.vocabulary, nested: known.isNested))
    var violations = run.violations + run.disagreements
    if !known.isNested {
      violations += ResumeChecker(run.made, run.parts).violations
      violations += ProgressChecker(run.made, run.parts).violations
      violations += ServiceChecker(run.made, run.parts).violations
      violations += RerunChecker(run.made, run.parts).violations
      violations += DecisionChecker(run.made, run.parts).violations
    }
    #expect(violations.isEmpty, "seed \(known.seed): \(violations.prefix(5))")
  }
}
