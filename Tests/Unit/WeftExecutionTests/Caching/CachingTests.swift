import Glibc
import Testing
import WeftCaching
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

/// Conditions under which a cached step runs, and what dependents see if it does not.
struct CachingTests {
  private let runs: CachedRuns

  init() throws {
    runs = try CachedRuns()
    try runs.write("in", "1")
  }

  private static let steps = #"""
    { "env": { "MODE": "a" }, "steps": [
      { "id": "make", "run": "cat in > out; printf m >> ran; echo said; echo n=7 >> $WEFT_OUTPUT",
        "outputs": { "n": { "type": "string" }, "text": "${{ self.stdout }}" },
        "cache": { "inputs": ["in"], "outputs": ["out"], "key": "k" } },
      { "id": "use", "run": "printf '%s' \"$TEXT-$N\" > used",
        "env": { "TEXT": "${{ steps.make.outputs.text }}", "N": "${{ steps.make.outputs.n }}" } } ] }
    """#

  @Test func aStepThatHasMadeTheSameIsNotRunAndIsReadAsIfItWere() async throws {
    #expect(try await runs.run(Self.steps).cached == [])
    runs.remove("out")
    runs.remove("used")
    let second = try await runs.run(Self.steps)
    #expect(second.cached == ["make"] && second.report.end?.counts.cached == 1)
    #expect(runs.ran == "m" && runs.read("out") == "1" && runs.read("used") == "said-7")
    #expect(second.report.succeeded && second.report.end?.counts.succeeded == 2)
  }

  @Test func cachedEventReplacesStartAndEnd() async throws {
    _ = try await runs.run(Self.steps)
    let kinds = try await runs.run(Self.steps).events.compactMap { event -> String? in
      switch event.kind {
      case .stepQueued(let step, _, _) where step.text == "make": "queued"
      case .stepCached(let step, _) where step.text == "make": "cached"
      case .stepStarted(let step, _, _) where step.text == "make": "started"
      case .stepFinished(let step, _) where step.text == "make": "finished"
      default: nil
      }
    }
    #expect(kinds == ["queued", "cached"])
  }

  @Test("X75: the log of a cached step is read by others, in another file too")
  func logsOfCachedSteps() async throws {
    let nested = """
      { "steps": [ { "id": "make", "run": "echo said; printf m >> ran", "cache": { "inputs": [] } },
        { "id": "use", "run": "cat >> used", "stdin": { "log": "make" } } ] }
      """
    let inner = try #require(
      WorkflowDecoder.decode(SourceFile(path: "b.json", bytes: Array(nested.utf8))).workflow)
    let outer = Workflow(
      steps: [
        Step(id: "n", action: .workflow(NestedWorkflow(path: "b.json", workflow: inner)))
      ])
    let plan = try #require(Planner.plan(outer).plan)
    for expected in [[], ["n/make"]] {
      let run = try await runs.run(plan)
      #expect(run.cached == expected && run.report.succeeded)
    }
    #expect(runs.ran == "m" && runs.read("used") == "said\nsaid\n")
  }

  /// Edits of the text of the workflow.
  static let edits: [(String, String)] = [
    ("echo said", "echo SAID"), ("\"MODE\": \"a\"", "\"MODE\": \"b\""),
    ("\"key\": \"k\"", "\"key\": \"l\""), ("\"inputs\": [\"in\"]", "\"inputs\": [\"in\", \"ran\"]"),
    ("\"outputs\": [\"out\"]", "\"outputs\": [\"out\", \"ran\"]"),
    ("\"key\": \"k\"", "\"key\": \"k\", \"version\": \"echo 2\""),
    ("\"key\": \"k\"", "\"key\": \"k\", \"env\": [\"WEFT_NO_SUCH\"]"),
    ("\"id\": \"make\",", "\"id\": \"make\", \"stdin\": \"text\","),
    ("\"id\": \"make\",", "\"id\": \"make\", \"shell\": \"bash\","),
    ("\"id\": \"make\",", "\"id\": \"make\", \"stdin\": { \"file\": \"ran\" },"),
  ]

  @Test(arguments: edits.indices)
  func changedInputRerunsTheStep(_ index: Int) async throws {
    _ = try await runs.run(Self.steps)
    let (old, new) = Self.edits[index]
    let edited = Self.steps.replacing(old, with: new)
    #expect(edited != Self.steps)
    #expect(try await runs.run(edited).cached == [])
    #expect(runs.ran == "mm")
    #expect(try await runs.run(Self.steps).cached == ["make"], "and what was before is still known")
  }

  @Test func anInputThatChangesBackIsTheOldOne() async throws {
    _ = try await runs.run(Self.steps)
    try runs.write("in", "2")
    #expect(try await runs.run(Self.steps).cached == [])
    try runs.write("in", "1")
    #expect(try await runs.run(Self.steps).cached == ["make"])
    #expect(runs.read("out") == "1" && runs.ran == "mm")
  }

  @Test func ignoredChangesKeepTheHit() async throws {
    _ = try await runs.run(Self.steps)
    try runs.write("other", "x")
    let edited = Self.steps.replacing(
      "\"id\": \"make\",", with: "\"id\": \"make\", \"timeout\": \"5m\","
    )
    .replacing("printf '%s'", with: "printf  '%s'")
    #expect(try await runs.run(edited).cached == ["make"])
  }

  @Test func withoutReadingEveryStepRunsAndIsStored() async throws {
    _ = try await runs.run(Self.steps)
    runs.readsCache = false
    #expect(try await runs.run(Self.steps).cached == [])
    runs.readsCache = true
    #expect(try await runs.run(Self.steps).cached == ["make"])
  }

  /// Steps that end in a way that prevents caching.
  static let unclean: [(name: String, step: String)] = [
    ("a failure", #""run": "touch out; exit 3", "allowFailure": true"#),
    ("another exit code", #""run": "touch out; exit 3", "successCodes": [0, 3]"#),
    (
      "a second attempt with a directory",
      #""run": "mkdir -p out; touch out/$$; test $WEFT_ATTEMPT = 2", "retry": { "max": 1, "delay": "1ms" }"#
    ),
    ("a process left behind", #""run": "touch out; sleep 60 >/dev/null 2>&1 &""#),
    ("no output", #""run": "true""#),
    ("an input that changed meanwhile", #""run": "echo 2 >> in; touch out""#),
    (
      "an input that changed and changed back",
      #""run": "printf 2 > in; cat in > out; printf 1 > in""#
    ),
    (
      "an input whose time was reset",
      #""run": "touch -r in time; printf 2 > in; cat in > out; printf 1 > in; touch -r time in""#
    ),
    ("an input that was exchanged", #""run": "mv in old; printf 2 > in; cat in > out; mv old in""#),
    (
      "a linked input that changed and changed back",
      #""run": "test -L in || { mv in real; ln -s real in; }; printf 2 > real; cat in > out; printf 1 > real""#
    ),
    ("a FIFO", #""run": "rm -f out; mkfifo out""#),
  ]

  @Test(arguments: unclean.indices)
  func onlyACleanSuccessIsKept(_ index: Int) async throws {
    let workflow = """
      { "steps": [ { "id": "make", \(Self.unclean[index].step),
        "cache": { "inputs": ["in"], "outputs": ["out"] } } ] }
      """
    _ = try await runs.run(workflow)
    try runs.write("in", "1")
    #expect(try await runs.run(workflow).cached == [], "\(Self.unclean[index].name)")
  }

  @Test func aWarningSaysWhatWasNotKept() async throws {
    let workflow =
      #"{ "steps": [ { "id": "make", "run": "echo 2 >> in", "cache": { "inputs": ["in"] } } ] }"#
    #expect(
      try await runs.run(workflow).warnings == [
        #"step "make" is not cached: its input "in" changed while it ran"#
      ])
  }

  @Test func anInputBehindALinkToADirectoryIsReported() async throws {
    let workflow =
      #"{ "steps": [ { "id": "make", "run": "mkdir -p d; ln -sfn d l", "cache": { "inputs": ["l/f"] } } ] }"#
    _ = try await runs.run(workflow)
    let run = try await runs.run(workflow)
    #expect(run.cached == [] && run.warnings.count == 1)
    #expect(
      run.warnings.first?.hasPrefix(
        #"step "make" is not cached: "l" is a symbolic link to a directory"#) == true)
  }

  @Test func elementsAreKnownByTheirValuesAndNotByTheirPlaces() async throws {
    func workflow(_ list: String) -> String {
      """
      { "steps": [ { "id": "make", "forEach": { "in": \(list) },
        "run": "printf x >> ran; echo ${{ item }} > out-${{ item }}",
        "cache": { "inputs": [], "outputs": ["out-${{ item }}"] } } ] }
      """
    }
    #expect(try await runs.run(workflow(#"["a", "b"]"#)).report.succeeded)
    let second = try await runs.run(workflow(#"["c", "b", "a"]"#))
    #expect(second.report.end?.counts.cached == 2 && runs.ran == "xxx")
    #expect(runs.read("out-c") == "c\n")
  }

  @Test func aValueInAPatternMeansNothingButItself() async throws {
    try runs.write("a*", "1")
    try runs.write("ab", "1")
    let workflow = """
      { "steps": [ { "id": "make", "forEach": { "in": ["a*"] }, "run": "printf x >> ran",
        "cache": { "inputs": ["${{ item }}"] } } ] }
      """
    _ = try await runs.run(workflow)
    try runs.write("ab", "2")
    #expect(try await runs.run(workflow).report.end?.counts.cached == 1)
    try runs.write("a*", "2")
    #expect(try await runs.run(workflow).report.end?.counts.cached == 0)
  }

  @Test func anArrayIsOneFileForEachElement() async throws {
    try runs.write("a*", "1")
    try runs.write("b", "1")
    try runs.write("ab", "1")
    let workflow = """
      { "steps": [ { "id": "list", "outputs": { "files": "${{ fromJSON('[\\"a*\\", \\"b\\"]') }}" } },
        { "id": "make", "run": "printf x >> ran; cp b c; cp b d", "cache": {
          "inputs": ["${{ steps.list.outputs.files }}"], "outputs": ["${{ fromJSON('[\\"c\\", \\"d\\"]') }}"] } } ] }
      """
    _ = try await runs.run(workflow)
    try runs.write("ab", "2")
    try runs.write("c", "changed")
    #expect(try await runs.run(workflow).report.end?.counts.cached == 1)
    #expect(runs.read("c") == "1" && runs.read("d") == "1")
    for name in ["a*", "b"] {
      try runs.write(name, "2")
      #expect(try await runs.run(workflow).report.end?.counts.cached == 0, "\(name)")
    }
    #expect(runs.read("ran") == "xxx")
  }

  @Test func theVersionOfAToolIsAskedOnceInARun() async throws {
    let workflow = """
      { "steps": [ { "id": "make", "forEach": { "in": [1, 2, 3] }, "run": "true",
        "cache": { "inputs": [], "key": "${{ item }}", "version": "printf v >> asked; cat in" } } ] }
      """
    _ = try await runs.run(workflow)
    #expect(runs.read("asked")?.first == "v")
    let before = runs.read("asked")?.count ?? 0
    #expect(try await runs.run(workflow).report.end?.counts.cached == 3)
    #expect((runs.read("asked")?.count ?? 0) - before <= ThisProcess.processorCount)
    try runs.write("in", "2")
    #expect(try await runs.run(workflow).report.end?.counts.cached == 0)
  }

  @Test func aToolThatCannotBeAskedHasTheStepRun() async throws {
    let workflow = """
      { "steps": [ { "id": "make", "run": "printf x >> ran",
        "cache": { "inputs": [], "version": ["/no/such/tool"] } } ] }
      """
    for _ in 1...2 {
      let run = try await runs.run(workflow)
      #expect(run.cached == [] && run.report.succeeded && run.warnings.count == 1)
    }
    #expect(runs.ran == "xx")
  }

  @Test func pathsAreRelativeToTheStepsDirectory() async throws {
    try FileSystem.makeDirectory(runs.path + "/sub")
    let workflow = """
      { "steps": [ { "id": "make", "cwd": "sub", "run": "cp ../in out; printf x >> ../ran",
        "cache": { "inputs": ["../in"], "outputs": ["out"] } } ] }
      """
    _ = try await runs.run(workflow)
    runs.remove("sub/out")
    #expect(try await runs.run(workflow).cached == ["make"])
    #expect(runs.read("sub/out") == "1")
    try runs.write("in", "2")
    #expect(try await runs.run(workflow).cached == [])
  }

  @Test func twoStepsInARowAreSeenAsOne() async throws {
    let workflow = """
      { "steps": [
        { "id": "one", "run": "cat in > mid; printf 1 >> ran",
          "cache": { "inputs": ["in"], "outputs": ["mid"] } },
        { "id": "two", "run": "cat mid > end; printf 2 >> ran",
          "cache": { "inputs": ["mid"], "outputs": ["end"] } } ] }
      """
    _ = try await runs.run(workflow)
    for name in ["mid", "end"] { runs.remove(name) }
    #expect(try await runs.run(workflow).cached == ["one", "two"])
    #expect(runs.read("end") == "1" && runs.ran == "12")
    // The edited first step produces the same file by different means; the second does not depend on that.
    let edited = workflow.replacing("cat in > mid;", with: "cat  in > mid;")
    #expect(try await runs.run(edited).cached == ["two"])
  }

  @Test func cancellingEndsTheLookingToo() async throws {
    let workflow = """
      { "steps": [ { "id": "make", "run": "true",
        "cache": { "inputs": [], "version": "echo > asked; exec sleep 600" } } ] }
      """
    #expect(mkfifo(runs.path + "/asked", 0o600) == 0)
    var configuration = EngineConfiguration()
    configuration.startDirectory = runs.path
    configuration.cache = CacheAccess(try StepCache(runs.path + "/.weft/cache"))
    let run = try RunEngine.start(CachedRuns.plan(workflow), configuration: configuration)
    // Waits until the version command runs.
    _ = try Descriptor.opened(forReading: runs.path + "/asked")
    run.cancel(.requested)
    let report = await run.ended()
    #expect(report.steps.map(\.state) == [.skipped(.cancelled(.requested))])
  }
}
