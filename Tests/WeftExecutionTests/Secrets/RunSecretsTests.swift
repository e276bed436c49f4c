import Testing
import WeftDefinition

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

  @Test func whatIsMadeFromASecretIsMaskedFromThenOn() throws {
    let secrets = RunSecrets(["TOKEN": try Secret(Array("canary-1".utf8))])
    let before = secrets.mask
    #expect(secrets.add(Array("1-yranac".utf8)))
    #expect(secrets.mask.masked("canary-1 1-yranac MS15cmFuYWM=") == "*** *** ***M=")
    #expect(before.masked("1-yranac") == "1-yranac")
  }

  @Test func whatIsMaskedAlreadyIsNotAddedAgain() throws {
    let secrets = RunSecrets(["TOKEN": try Secret(Array("canary-1".utf8))])
    let before = secrets.mask
    #expect(secrets.add(Array("63616e6172792d31".utf8)))
    #expect(secrets.mask.automaton === before.automaton)
  }

  @Test func whatIsTooShortToBeMaskedIsSaidSo() throws {
    let secrets = RunSecrets()
    #expect(!secrets.add(Array("abc".utf8)))
    #expect(secrets.mask.isEmpty)
  }

  @Test func aValueIsSecretIfItContainsOneInAnyForm() throws {
    let mask = SecretMask([try Secret(Array("canary-1".utf8))])
    for text in ["x canary-1 y", "{\"a\":\"Y2FuYXJ5LTE=\"}", "63616E6172792D31"] {
      #expect(mask.contains(Array(text.utf8)))
    }
    #expect(!mask.contains(Array("x canary- 1 y".utf8)))
  }
}
