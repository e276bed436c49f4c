import Testing
import WeftDefinition

@testable import WeftEvents
@testable import WeftExecution

@Suite struct RunSecretsTests {
  @Test func valuesAreFoundByName() throws {
    let secrets = RunSecrets(["TOKEN": try Secret(Array("canary-1".utf8))])
    #expect(secrets["TOKEN"]?.bytes == Array("canary-1".utf8))
    #expect(secrets["token"]?.bytes == Array("canary-1".utf8))
    #expect(secrets["other"] == nil)
    #expect(secrets.mask.masked("canary-1") == "***")
  }

  @Test func aRunWithoutSecretsMasksNothing() {
    #expect(RunSecrets().mask.isEmpty)
    #expect(RunSecrets().mask.masked("text") == "text")
    #expect(!RunSecrets().mask.contains(Array("text".utf8)))
  }

  @Test func derivedSecretIsMaskedFromThenOn() throws {
    let secrets = RunSecrets(["TOKEN": try Secret(Array("canary-1".utf8))])
    let before = secrets.mask
    #expect(secrets.add(Array("1-yranac".utf8)))
    #expect(secrets.mask.masked("canary-1 1-yranac MS15cmFuYWM=") == "*** *** ***M=")
    #expect(before.masked("1-yranac") == "1-yranac")
  }

  @Test func maskedSecretIsNotAddedTwice() throws {
    let secrets = RunSecrets(["TOKEN": try Secret(Array("canary-1".utf8))])
    let before = secrets.mask
    #expect(secrets.add(Array("63616e6172792d31".utf8)))
    #expect(
      secrets.mask.automata.map(ObjectIdentifier.init) == before.automata.map(ObjectIdentifier.init)
    )
  }

  @Test func shortDerivedSecretIsReported() throws {
    let secrets = RunSecrets()
    #expect(!secrets.add(Array("abc".utf8)))
    #expect(secrets.mask.isEmpty)
  }

  @Test(arguments: [1, 2, 3, 7, 64, 100])
  func manyThatComeOneByOneAreAllMasked(count: Int) throws {
    let secrets = RunSecrets()
    func value(_ number: Int) -> String { "value-\(number)-\(number * 7919 % 10007)-end" }
    for number in 0..<count {
      secrets.add(Array(value(number).utf8))
      // Each has its own mask, as if steps wrote in between.
      #expect(secrets.mask.masked(value(number)) == "***")
    }
    let text = (0..<count).map(value).joined(separator: " ")
    #expect(
      secrets.mask.masked(text) == Array(repeating: "***", count: count).joined(separator: " "))
    // At most one automaton for each power of two.
    #expect(secrets.mask.automata.count <= 7)
  }

  @Test func aValueIsSecretIfItContainsOneInAnyForm() throws {
    let mask = SecretMask([try Secret(Array("canary-1".utf8))])
    for text in ["x canary-1 y", "{\"a\":\"Y2FuYXJ5LTE=\"}", "63616E6172792D31"] {
      #expect(mask.contains(Array(text.utf8)))
    }
    #expect(!mask.contains(Array("x canary- 1 y".utf8)))
  }
}
