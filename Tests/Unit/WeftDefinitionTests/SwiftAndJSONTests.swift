import Testing
import WeftDefinition
import WeftDiagnostics

/// A workflow built in Swift and one read from JSON are the same value.
@Suite struct SwiftAndJSONTests {
  @Test func smallestWorkflowIsDecoded() throws {
    let decoded = try decodedWithoutErrors(#"{ "steps": ["swift build", "swift test"] }"#)
    #expect(decoded == Workflow(steps: [Step(run: "swift build"), Step(run: "swift test")]))
  }

  @Test func aStringIsAStepThatRunsIt() throws {
    let short = try decodedWithoutErrors(#"{ "parallel": ["make"] }"#)
    let long = try decodedWithoutErrors(#"{ "parallel": [{ "run": "make" }] }"#)
    #expect(short == long)
  }

  @Test func everyKeyOfAWorkflow() throws {
    let decoded = try decodedWithoutErrors(
      """
      {
        "name": "release", "description": "all of it",
        "env": { "A": "b", "N": 1.50, "T": true, "E": 1e400, "GONE": null },
        "cwd": "src", "shell": ["zsh", "-c"], "maxParallel": 1e2, "timeout": "1h30m",
        "onFailure": "cancel", "parallel": ["make"]
      }
      """)
    var built = Workflow(name: "release", parallel: [Step(run: "make")], onFailure: .cancel)
    built.description = "all of it"
    built.settings = CommandSettings(
      environment: ["A": "b", "N": "1.50", "T": "true", "E": "1e400", "GONE": nil],
      workingDirectory: "src", shell: Shell(prefix: ["zsh", "-c"]))
    built.maxParallel = 100
    built.timeout = .seconds(5400)
    #expect(decoded == built)
  }

  @Test func everyKeyOfACommand() throws {
    let decoded = try decodedWithoutErrors(
      """
      { "steps": [
        { "id": "first", "run": ["ls", ""] },
        { "id": "all", "name": "All", "description": "d", "needs": ["first"],
          "env": { "A": "" }, "cwd": "/tmp", "shell": "python", "timeout": "1500ms",
          "allowFailure": ["timeout", "exit:3", "signal:KILL"],
          "run": "print(1)", "stdin": { "log": "first" }, "successCodes": [1.0, 1e2] }
      ] }
      """)
    let command = Command(
      .script("print(1)"), stdin: .log("first"), successCodes: [1, 100])
    let built = Step(
      id: "all", name: "All", description: "d", action: .run(command), needs: ["first"],
      settings: CommandSettings(
        environment: ["A": ""], workingDirectory: "/tmp", shell: .python),
      timeout: .milliseconds(1500),
      allowFailure: .classes([.timeout, .exit(3), .signal("KILL")]))
    #expect(decoded == Workflow(steps: [Step("first", run: ["ls", ""]), built]))
  }

  @Test func everyOptionOfACommand() throws {
    let decoded = try decodedWithoutErrors(
      """
      { "steps": [
        { "run": "a", "stop": { "signal": "INT", "grace": "0s" }, "leftovers": "keep",
          "stallTimeout": "90s", "mergeOutput": true, "logLimit": "10MB", "jobserver": true },
        { "run": "b", "tty": true, "stop": { "grace": "1m" } }
      ] }
      """)
    var first = Command(
      .script("a"),
      options: Command.Options(
        stop: StopRequest(signal: "INT", grace: .zero), leftovers: .keep,
        stallTimeout: .seconds(90), logLimit: ByteCount(10_000_000), usesJobserver: true))
    first.mergesOutput = true
    var second = Command(.script("b"))
    second.usesTerminal = true
    second.stop = StopRequest(grace: .seconds(60))
    #expect(decoded == Workflow(steps: [Step(action: .run(first)), Step(action: .run(second))]))
  }

  @Test(arguments: [
    #""leftovers": "end""#, #""mergeOutput": false"#, #""logLimit": "1GiB""#, #""tty": false"#,
    #""jobserver": false"#,
  ])
  func explicitDefaultEqualsTheImplicitOne(key: String) throws {
    let decoded = try decodedWithoutErrors(#"{ "steps": [{ "run": "a", \#(key) }] }"#)
    #expect(decoded == Workflow(steps: [Step(run: "a")]))
  }

  @Test func everySourceOfASecret() throws {
    let decoded = try decodedWithoutErrors(
      """
      { "secrets": {
          "A": { "env": "TOKEN", "description": "first" }, "b-2": { "file": "keys/b" },
          "C": { "command": ["pass", "show", "c"] },
          "D": { "command": ["pass"], "timeout": "1m" }, "E": { "descriptor": 3 }
        },
        "steps": ["a"] }
      """)
    var built = Workflow(steps: [Step(run: "a")])
    built.secrets = [
      SecretDeclaration("A", from: .environment("TOKEN"), description: "first"),
      SecretDeclaration("b-2", from: .file("keys/b")),
      SecretDeclaration("C", from: .command(["pass", "show", "c"])),
      SecretDeclaration("D", from: .command(["pass"], timeout: .seconds(60))),
      SecretDeclaration("E", from: .descriptor(3)),
    ]
    #expect(decoded == built)
  }

  @Test func theEnvironmentPolicyStandsAtEveryLevel() throws {
    let decoded = try decodedWithoutErrors(
      """
      { "envPolicy": "clean", "steps": [
        { "parallel": [{ "run": "a", "envPolicy": "clean" }], "envPolicy": "inherit" }
      ] }
      """)
    var step = Step(run: "a")
    step.settings.environmentPolicy = .clean
    var group = Step(parallel: [step])
    group.settings.environmentPolicy = .inherit
    var built = Workflow(steps: [group])
    built.settings.environmentPolicy = .clean
    #expect(decoded == built)
  }

  @Test func everyKeyOfAGroup() throws {
    let decoded = try decodedWithoutErrors(
      """
      { "steps": [
        { "id": "g", "parallel": ["a", { "steps": ["b"], "needs": [] }], "maxParallel": 2,
          "timeout": "1m", "allowFailure": true, "env": { "A": "1" }, "shell": "bash" }
      ] }
      """)
    var group = Step(
      "g", parallel: [Step(run: "a"), Step(steps: [Step(run: "b")], needs: [])],
      timeout: .seconds(60), maxParallel: 2, allowFailure: .all)
    group.settings = CommandSettings(environment: ["A": "1"], shell: .bash)
    #expect(decoded == Workflow(steps: [group]))
  }

  @Test(
    arguments: [
      (#""yes\n""#, .text("yes\n")), (#"{ "file": "a b" }"#, .file("a b")),
      (#"{ "x-why": 0, "log": "g" }"#, .log("g")),
    ] as [(String, StandardInput)])
  func everyKindOfStandardInput(json: String, stdin: StandardInput) throws {
    let decoded = try decodedWithoutErrors(#"{ "steps": [{ "run": "cat", "stdin": \#(json) }] }"#)
    let step = Step(action: .run(Command(.script("cat"), stdin: stdin)))
    #expect(decoded == Workflow(steps: [step]))
  }

  @Test(arguments: [
    (#"{ "onFailure": "stop", "steps": [] }"#, FailureResponse.stop),
    (#"{ "onFailure": "cancel", "steps": [] }"#, .cancel),
    (#"{ "onFailure": "continue", "steps": [] }"#, .continue),
    (#"{ "steps": [] }"#, .stop),
  ])
  func everyFailureResponse(json: String, response: FailureResponse) throws {
    #expect(try decodedWithoutErrors(json).onFailure == response)
  }

  @Test func differentJSONGivesDifferentValues() throws {
    let texts = [
      #"{ "steps": ["a"] }"#, #"{ "parallel": ["a"] }"#, #"{ "steps": [{ "run": ["a"] }] }"#,
      #"{ "steps": [{ "run": "a", "needs": [] }] }"#, #"{ "steps": [{ "steps": ["a"] }] }"#,
      #"{ "steps": ["a"], "timeout": "1s" }"#, #"{ "steps": [{ "run": "a", "timeout": "1s" }] }"#,
    ]
    let workflows = try texts.map { try decodedWithoutErrors($0) }
    #expect(Set(workflows).count == texts.count)
  }

  @Test func placesSayWhereAStepAndItsNamesStand() throws {
    let text = #"{ "steps": [{ "id": "a", "run": "x", "needs": ["b"] }] }"#
    let step = try #require(decode(text).workflow?.body.members.first)
    func written(_ range: SourceRange?) -> Substring? {
      range.map { Substring(text.utf8.dropFirst(Int($0.start)).prefix(Int($0.end - $0.start))) }
    }
    #expect(
      written(step.place.value?.step) == #"{ "id": "a", "run": "x", "needs": ["b"] }"#)
    #expect(written(step.place.value?.id) == #""a""#)
    #expect(written(step.needs?.first?.place.value) == #""b""#)
  }
}
