import Testing

/// A project with `weft.json` and `workflows/deploy.json`, and words that name no file in it.
struct MissingFileTests {
  @Test(
    "the help names what was meant",
    arguments: [
      (["run", "test"], "\"test\" is a step or group of weft.json: weft run --only test"),
      (["run", "deplou"], "did you mean \"deploy\"?"),
      (["check", "deplou"], "did you mean \"deploy\"?"),
      (["fmt", "deplou"], "did you mean \"deploy\"?"),
      (["run", "VERSION=1.5"], "to set an input: weft run -i 'VERSION=1.5'"),
      (["run", "deploy.json"], "workflows/deploy.json exists: weft run deploy"),
      (
        ["run", "nothing"],
        "there is no workflows/nothing.jsonc or workflows/nothing.json here or above either; "
          + "\"weft list\" shows the workflows"
      ),
      (
        ["run", "test", "build"],
        "they are steps or groups of weft.json: weft run --only test --only build"
      ),
      (["test", "build", "--nope"], "see \"weft help test\""),
      (["build"], "to run that step or group of weft.json, write \"weft run --only build\""),
      (["deploy"], "to run it, write \"weft run deploy\""),
      (["run", "-C", ".", "test"], "is a step or group of weft.json: weft run -C . --only test"),
      (["run", "-i", "flags=-g", "deploy"], "write an array: -i 'flags=[\"-g\"]'"),
      (
        ["run", "-i", "flags=-g, -O2", "deploy"],
        "write an array: -i 'flags=[\"-g\",\"-O2\"]'"
      ),
    ] as [([String], String)])
  func helpNamesWhatWasMeant(words: [String], help: String) {
    let result = Weft.shell("exec \"$WEFT\" \"$@\"", words, in: project())
    #expect(result.status == 2)
    // The problems that `check` finds are its output.
    let printed = words[0] == "check" ? result.output : result.errors
    #expect(printed.contains("= help: ") && printed.contains(help + "\n"), "\(printed)")
  }

  @Test(arguments: ["check", "fmt"])
  func severalWorkflowsAreNamed(command: String) {
    let directory = project()
    let here = Weft.run(command, "deploy", "tidy", in: directory)
    #expect(here.status == 0, "\(here.errors)")
    let below = Weft.shell(
      "mkdir below; cd below; exec \"$WEFT\" \"$1\" deploy tidy", [command], in: directory)
    #expect(below.status == 0, "\(below.errors)")
  }

  @Test func workflowIsNoRun() {
    let directory = project()
    #expect(Weft.run("run", "tidy", in: directory).status == 0)
    let result = Weft.run("show", "deploy", in: directory)
    #expect(result.status == 2)
    #expect(result.errors.contains("\"deploy\" is a workflow, not a run"))
  }

  @Test func listedStepsHaveLinesOfTheirOwn() {
    let result = Weft.run("list", in: project())
    #expect(result.output.contains("\n    test\n    build\n"), "\(result.output)")
    #expect(result.output.hasSuffix("\n"))
  }

  private func project() -> Directory {
    let directory = Directory()
    directory.write(
      "weft.json",
      #"{ "steps": [{ "id": "test", "run": "true" }, { "id": "build", "run": "true" }] }"#)
    _ = Weft.shell("mkdir workflows", in: directory)
    directory.write(
      "workflows/deploy.json",
      """
      {
        "inputs": { "flags": { "type": "array", "items": { "type": "string" }, "default": [] } },
        "steps": ["true"]
      }

      """)
    directory.write("workflows/tidy.json", "{ \"steps\": [\"true\"] }\n")
    return directory
  }
}
