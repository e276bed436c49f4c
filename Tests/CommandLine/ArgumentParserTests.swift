import Testing

@testable import WeftCLI

struct ArgumentParserTests {
  @Test(arguments: [
    ["-j4", "a.json"], ["-j", "4", "a.json"], ["a.json", "-j4"], ["-j1", "-j4", "a.json"],
    ["a.json", "-j", "4", "--"], ["-j4", "a.json", "--", "-j8"],
  ])
  func aValueMayStandInTheSameWordOrTheNextBeforeOrAfterOperands(words: [String]) throws {
    let parsed = try ArgumentParser.parse(["run"] + words)
    #expect(parsed.value(of: .jobs) == "4")
    #expect(parsed.operands == ["a.json"])
  }

  @Test func flagsShareAWordAndTheLastMayTakeTheRestAsItsValue() throws {
    let parsed = try ArgumentParser.parse(["run", "-kj4", "a.json"])
    #expect(parsed.isGiven(.keepGoing))
    #expect(parsed.value(of: .jobs) == "4")
  }

  @Test(arguments: [
    (["--format=json"], "json"), (["--format", "json"], "json"), (["--format="], ""),
    (["--format", "--"], "--"), (["--format=a=b"], "a=b"),
  ])
  func aLongOptionTakesWhatFollowsTheEqualsSignOrTheNextWord(words: [String], value: String) throws
  {
    let parsed = try ArgumentParser.parse(["check", "a.json"] + words)
    #expect(parsed.value(of: .diagnosticFormat) == value)
  }

  @Test func wordsAfterTwoDashesAreOperands() throws {
    let parsed = try ArgumentParser.parse(["check", "--", "--strict", "-", "--"])
    #expect(parsed.operands == ["--strict", "-", "--"])
    #expect(!parsed.isGiven(.strictCheck))
  }

  @Test(arguments: [CommandName.run, .graph, .why, .estimate])
  func wordsAfterTwoDashesAreTheArgumentsOfARun(command: CommandName) throws {
    let parsed = try ArgumentParser.parse([command.rawValue, "a", "--", "-h", "b.json", "--", ""])
    #expect(parsed.operands == ["a"])
    #expect(parsed.passed == ["-h", "b.json", "--", ""])
    #expect(parsed.command == command)
  }

  @Test func aRunIsResumedWithTheArgumentsThatItHad() {
    #expect(throws: UsageError.self) { try ArgumentParser.parse(["resume", "id", "--", "x"]) }
  }

  @Test func aSingleDashIsAnOperand() throws {
    #expect(try ArgumentParser.parse(["run", "-"]).operands == ["-"])
  }

  @Test(arguments: CommandName.allCases, ["-h", "--help"])
  func helpIsAnOptionOfEveryCommandAndWantsNothingElse(command: CommandName, spelling: String)
    throws
  {
    let parsed = try ArgumentParser.parse([command.rawValue, spelling])
    #expect(parsed.command == .help)
    #expect(parsed.operands == [command.rawValue])
  }

  @Test func errorBeforeHelpIsReported() {
    #expect(throws: UsageError.unknownOption("--nope", of: .run)) {
      try ArgumentParser.parse(["run", "--nope", "--help"])
    }
  }

  @Test(
    arguments: [
      ([], .noCommand),
      (["rum"], .unknownCommand("rum")),
      (["--verbose"], .unknownTopOption("--verbose")),
      (["run", "--form"], .unknownOption("--form", of: .run)),
      (["check", "--form", "a"], .unknownOption("--form", of: .check)),
      (["run", "-kx", "a"], .unknownOption("-x", of: .run)),
      (["run", "a", "-j"], .missingValue(of: .jobs, .run)),
      (["run", "--strict=yes", "a"], .unwantedValue(of: .strictRun, "yes", .run)),
      (["why"], .missingOperand(.why)),
      (["eval"], .missingOperand(.eval)),
      (["run", "a", "b"], .unwantedOperand("b", after: ["a"], .run)),
      (["version", "a"], .unwantedOperand("a", after: [], .version)),
      (["run", "-k", "--fail-fast", "a"], .contradiction(.keepGoing, .failFast, .run)),
      (["run", "-q", "--output", "none", "a"], .contradiction(.quiet, .output, .run)),
    ] as [([String], UsageError)])
  func everyUsageErrorHasItsOwnMessage(words: [String], error: UsageError) {
    #expect(throws: error) { try ArgumentParser.parse(words) }
  }

  @Test(arguments: [
    (["rum"], "did you mean \"run\"?"),
    (["build.json"], "to run it, write \"weft run build.json\""),
    (["check", "--fromat", "x"], "did you mean \"--format\"?"),
    (["run", "--jobs", "4"], "use \"-j N\""),
    (["run", "--keep-going"], "use \"-k\""),
    (["--strict"], "put the command first: \"weft run --strict\""),
    (["lint"], "use \"weft check\""), (["validate"], "use \"weft check\""),
    (["ls"], "use \"weft list\""), (["ps"], "use \"weft runs\""),
    (["stop"], "use \"weft cancel\""), (["rm"], "use \"weft clean\""),
    (["continue"], "use \"weft resume\""),
    (["status"], "use \"weft runs\""), (["plan"], "use \"weft graph\""),
    (["run", "-l"], "use \"weft list\""), (["run", "--list"], "use \"weft list\""),
    (["run", "-f", "a.json"], "write it without an option: \"weft run FILE\""),
    (["run", "-v"], "use \"--output auto|stream|group|failed|none\""),
    (["list", "--json"], "use \"--format text|json\""),
    (["-v"], "use \"--version\""), (["-V"], "use \"--version\""),
    (["-C", "x", "run"], "put the command first: \"weft run -C DIR\""),
    (["run", "a.json", "b=c d"], "to set an input: weft run a.json -i 'b=c d'"),
    (["run", "--zzz"], "see \"weft help run\""),
  ])
  func theHelpSaysWhatToWriteInstead(words: [String], help: String) {
    do {
      _ = try ArgumentParser.parse(words)
      Issue.record("accepted: \(words)")
    } catch {
      #expect(error.help == help)
    }
  }
}
