import Testing
import WeftDefinition
import WeftEvents
import WeftExecution

/// Random runs with secret outputs, which are not recorded, in several parts.
@Suite struct UnrecordedSecretTests {
  @Test(
    "a secret that is not recorded is made again for each step that still reads it",
    arguments: [false, true])
  func secretsAreMadeAgain(inAnotherFile isNested: Bool) async {
    let runs = await Seeds.map { seed -> Int? in
      guard let run = SequencedRun(seed: seed, .secrets, nested: isNested) else { return nil }
      if Seeds.isOne { run.report() }
      let checker = SecretChecker(run.inner, run.parts, prefix: isNested ? "c/" : "")
      let violations = checker.violations + run.violations + run.disagreements
      if !violations.isEmpty {
        Issue.record(
          """
          seed \(seed): \(violations.prefix(5).joined(separator: "; "))
          again: WEFT_SEED=\(seed) swift test --filter UnrecordedSecretTests
          """)
      }
      return checker.readings
    }
    print("\(runs.count) sequences, \(runs.reduce(0, +)) secrets read")
    #expect(Seeds.count < Seeds.few || runs.reduce(0, +) > Seeds.count)
  }
}
