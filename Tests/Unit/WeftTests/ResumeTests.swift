import Synchronization
import TestSupport
import Testing
import Weft
import WeftPlatform

/// Runs that the library resumes by the options of `weft resume`.
@Suite(.hangLimit) struct ResumeTests {
  private let folder: Scratch
  private let store: FileRunStore

  init() throws {
    folder = try Scratch()
    store = FileRunStore(directory: folder.path + "/.weft")
  }

  /// A workflow of commands, each of which writes its name to a file; those that fail fail at once.
  private func workflow(_ steps: String...) throws -> Workflow {
    let text = steps.map { step in
      let parts = step.split(separator: " ", maxSplits: 1)
      let script = "echo \(parts[0]) >> \(folder.path)/ran; \(parts.count > 1 ? parts[1] : "true")"
      return #"{ "id": "\#(parts[0])", "run": "\#(script)" }"#
    }
    return try Workflow(json: #"{ "steps": [\#(text.joined(separator: ", "))] }"#, path: "a.json")
  }

  /// The steps that have run, in order.
  private var ran: [String] {
    guard let bytes = try? FileReading.bytes(of: folder.path + "/ran") else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func failed(_ workflow: Workflow) async throws -> RunID {
    let run = try Engine().start(workflow, in: store)
    #expect(await run.report.end?.outcome == .failure)
    return run.id
  }

  /// The steps of `finally` run again with their file: with the run, or with the step that runs the file.
  @Test func finallyRunsAgain() async throws {
    let ran = "\(folder.path)/ran"
    func file(_ name: String, _ end: String) throws {
      try Descriptor.creating("\(folder.path)/\(name).json", .onlyNew).writeAll(
        Array(
          """
          { "steps": [{ "id": "\(name)", "run": "echo \(name) >> \(ran); \(end)" }],
            "finally": [{ "steps": ["echo after \(name) >> \(ran)"] }] }
          """.utf8))
    }
    try file("done", "true")
    try file("fails", "test -e \(ran).go")
    try Descriptor.creating("\(folder.path)/a.json", .onlyNew).writeAll(
      Array(
        """
        { "onFailure": "continue",
          "steps": [{ "workflow": "done.json" }, { "workflow": "fails.json" }],
          "finally": [{ "id": "first", "run": "echo first >> \(ran)" },
            { "if": "failure()", "run": "echo failed >> \(ran)" }] }
        """.utf8))
    let workflow = try Workflow(contentsOf: folder.path + "/a.json", startDirectory: folder.path)
    let run = try await failed(workflow)
    let first = ["done", "after done", "fails", "after fails", "first", "failed"]
    #expect(self.ran == first)
    let second = try Engine().resume(run, workflow, in: store)
    #expect(await !second.report.succeeded)
    let again = ["fails", "after fails", "first", "failed"]
    #expect(self.ran == first + again)
    try Descriptor.creating("\(ran).go", .onlyNew).writeAll([])
    let third = try Engine().resume(run, workflow, in: store)
    #expect(await third.report.succeeded)
    #expect(self.ran == first + again + again.dropLast())
  }

  @Test func aChangedWorkflowIsRefusedWithItsChanges() async throws {
    let run = try await failed(try workflow("one", "two exit 1", "gone"))
    let changed = try workflow("one : changed", "two", "new")
    let changes = try #require(try Engine().changes(to: changed, since: run, in: store))
    #expect(changes.changed == [StepAddress("one"), StepAddress("two")])
    #expect(changes.added == [StepAddress("new")] && changes.removed == [StepAddress("gone")])
    #expect("\(changes)" == #"changed "one", "two"; added "new"; removed "gone""#)
    let error = #expect(throws: RunStoreError.self) {
      try Engine().resume(run, changed, in: store)
    }
    #expect(error?.message.contains("\(changes)") == true)
    #expect(ran == ["one", "two"])
    // The refused resume holds nothing.
    #expect(
      try Engine().changes(to: workflow("one", "two exit 1", "gone"), since: run, in: store) == nil)
  }

  /// A nested workflow, an own script and a cleanup name files; two steps run the same one.
  @Test func aChangedScriptFileRunsItsStepsAgain() async throws {
    let ran = "\(folder.path)/ran"
    for (name, text) in [
      (
        "w.json",
        #"""
        { "steps": [
          { "id": "first", "script": { "file": "a.sh" } }, { "id": "second", "script": { "file": "./a.sh" } },
          { "id": "other", "script": { "file": "b.sh" } }, { "id": "nested", "workflow": "part.json" },
          { "id": "last", "run": "test -e \#(folder.path)/ready" }] }
        """#
      ),
      ("part.json", #"{ "steps": [{ "id": "own", "script": { "file": "c.sh" } }] }"#),
      ("a.sh", "echo a >> \(ran)"), ("b.sh", "echo b >> \(ran)"), ("c.sh", "echo c >> \(ran)"),
    ] {
      try Descriptor.creating("\(folder.path)/\(name)", .onlyNew).writeAll(text)
    }
    func read() throws -> Workflow {
      try Workflow(contentsOf: folder.path + "/w.json", startDirectory: folder.path)
    }
    var settings = Engine.Options()
    settings.startDirectory = folder.path
    let engine = Engine(options: settings)
    let run = try engine.start(try read(), in: store)
    #expect(await run.report.end?.outcome == .failure)
    #expect(self.ran == ["a", "a", "b", "c"])
    #expect(try engine.changes(to: read(), since: run.id, in: store) == nil)

    try Descriptor.creating(folder.path + "/a.sh", .orEmptied).writeAll("echo A >> \(ran)")
    let changes = try #require(try engine.changes(to: read(), since: run.id, in: store))
    #expect(changes.changed == [StepAddress("first"), StepAddress("second")])
    #expect(changes.files == [folder.path + "/a.sh"])
    #expect(throws: RunStoreError.self) { try engine.resume(run.id, read(), in: store) }
    try Descriptor.creating(folder.path + "/a.sh", .orEmptied).writeAll("echo a >> \(ran)")
    #expect(try engine.changes(to: read(), since: run.id, in: store) == nil)

    try Descriptor.creating(folder.path + "/c.sh", .orEmptied).writeAll("echo C >> \(ran)")
    try Descriptor.creating(folder.path + "/ready", .onlyNew).writeAll("")
    var options = Engine.ResumeOptions()
    options.acceptedChanges = .all
    let next = try engine.resume(run.id, read(), options: options, in: store)
    #expect(await next.report.succeeded)
    #expect(self.ran == ["a", "a", "b", "c", "C"])
    #expect(try engine.changes(to: read(), since: run.id, in: store) == nil)
  }

  @Test func acceptedChangesRunAgainWithTheirDependents() async throws {
    let run = try await failed(try workflow("zero", "one", "two exit 1", "gone"))
    var options = Engine.ResumeOptions()
    options.acceptedChanges = .all
    let changed = try workflow("zero", "one : changed", "two", "new")
    let next = try Engine().resume(run, changed, options: options, in: store)
    #expect(await next.report.succeeded)
    #expect(ran == ["zero", "one", "two", "one", "two", "new"])
    // The run now is one of the changed workflow.
    #expect(try Engine().changes(to: changed, since: run, in: store) == nil)
  }

  /// Resumes a run with an edited workflow, all of whose changes are accepted.
  private func resume(_ run: RunID, _ edited: Workflow) async throws -> Outcome? {
    var options = Engine.ResumeOptions()
    options.acceptedChanges = .all
    return try await Engine().resume(run, edited, options: options, in: store).report.end?.outcome
  }

  @Test func aStepThatWasRemovedAndAddedAgainRuns() async throws {
    let run = try await failed(try workflow("one", "two", "three exit 1"))
    #expect(try await resume(run, workflow("one", "three exit 1")) == .failure)
    let again = try workflow("one", "two true", "three exit 1")
    #expect(
      try Engine().changes(to: again, since: run, in: store)?.changed == [StepAddress("two")])
    #expect(try await resume(run, again) == .failure)
    #expect(ran == ["one", "two", "three", "three", "two", "three"])
  }

  @Test("steps without an id keep their results, logs and numbers when others are inserted")
  func unnamedStepsAreKnownByTheirContent() async throws {
    func workflow(_ steps: String...) throws -> Workflow {
      let texts = steps.map { "\"echo \($0) | tee -a \(folder.path)/ran; test \($0) != bad\"" }
      return try Workflow(
        json: """
          { "parallel": [\(texts.joined(separator: ", "))], "maxParallel": 1, "onFailure": "continue" }
          """, path: "a.json")
    }
    let run = try await failed(try workflow("one", "two", "bad"))
    #expect(ran == ["one", "two", "bad"])
    let edited = try workflow("new", "bad", "one", "two")
    let changes = try #require(try Engine().changes(to: edited, since: run, in: store))
    #expect(changes.added == [StepAddress("4")] && changes.changed.isEmpty)
    #expect("\(changes)".hasPrefix("added \"4\" (echo new | tee"))
    #expect(try await resume(run, edited) == .failure)
    #expect(Set(ran.dropFirst(3)) == ["new", "bad"] && ran.count == 5)
    // No edit, and the same numbers, for a further engine.
    #expect(try Engine().changes(to: edited, since: run, in: store) == nil)
    let last = try workflow("bad", "two", "last", "one")
    #expect(try Engine().changes(to: last, since: run, in: store)?.removed == [StepAddress("4")])
    #expect(try await resume(run, last) == .failure)
    #expect(Set(ran.dropFirst(5)) == ["bad", "last"] && ran.count == 7)
    let known = try store.recorded(run)
    #expect(known.output(of: StepAddress("2")) == Array("two\n".utf8))
    #expect(known.output(of: StepAddress("3")) == Array("bad\nbad\nbad\n".utf8))
  }

  @Test func aRunIsResumedThoughTwoEnginesWereKilledWhileTheyAcceptedChanges() async throws {
    let run = try await failed(try workflow("one exit 1"))
    let path = "\(store.directory)/runs/\(run)/workflow.json"
    for version in ["two", "three"] {
      // Killed after its first record, before it replaced the file.
      let before = try FileReading.bytes(of: path)
      #expect(try await resume(run, workflow("one exit 1", version)) == .failure)
      try Descriptor.creating(path, .orEmptied).writeAll(before)
    }
    #expect(try await resume(run, workflow("one", "three")) == .success)
  }

  @Test(
    "a loop that the cleanup of its group undid runs again, like any other step",
    arguments: [true, false])
  func loopsAreUndone(isOfGroup: Bool) async throws {
    let ran = "\(folder.path)/ran"
    let step = #""run": "echo test >> \#(ran)""#
    let body = isOfGroup ? #""steps": [{ "id": "inner", \#(step) }]"# : step
    let workflow = try Workflow(
      json: #"""
        { "steps": [{ "id": "g", "steps": [
            { "id": "test", "forEach": ["x", "y"], \#(body) },
            { "id": "last", "run": "echo last >> \#(ran); exit 1" }],
          "cleanup": "echo drop >> \#(ran)" }] }
        """#, path: "a.json")
    let run = try await failed(workflow)
    let part = ["test", "test", "last", "drop"]
    #expect(self.ran == part)
    let next = try Engine().resume(run, workflow, in: store)
    #expect(await !next.report.succeeded)
    #expect(self.ran == part + part)
  }

  @Test("a loser of a race that has changed is not started again, and not cleaned up twice")
  func aChangedLoserIsNotCleanedUpAgain() async throws {
    let ran = "\(folder.path)/ran"
    func workflow(_ time: Int, _ end: String = "false") throws -> Workflow {
      try Workflow(
        json: #"""
          { "steps": [{ "race": [
              { "id": "winner", "run": "until test -e \#(ran); do sleep 0.01; done" },
              { "id": "loser", "run": "echo loser >> \#(ran); sleep \#(time)",
                "cleanup": "echo cleanup >> \#(ran)" }] },
            { "id": "end", "run": "\#(end)" }] }
          """#, path: "a.json")
    }
    let run = try await failed(try workflow(60))
    #expect(self.ran == ["loser", "cleanup"])
    #expect(try await resume(run, workflow(61)) == .failure)
    #expect(self.ran == ["loser", "cleanup"])
    var options = Engine.ResumeOptions()
    options.from = ["loser"]
    let next = try Engine().resume(run, workflow(61), options: options, in: store)
    #expect(await !next.report.succeeded)
    #expect(self.ran == ["loser", "cleanup"])
    // It is named itself.
    options.from = []
    options.rerunning = ["loser.cleanup"]
    let last = try Engine().resume(run, workflow(61), options: options, in: store)
    #expect(await !last.report.succeeded)
    #expect(self.ran == ["loser", "cleanup", "cleanup"])
  }

  @Test(
    "of a loop over a list in the file, only the elements run again that are new or have changed",
    arguments: [false, true], [false, true])
  func onlyNewElementsRun(isOfGroup: Bool, hasKey: Bool) async throws {
    let ran = "\(folder.path)/ran"
    let step = #""run": "echo ${{ item.n }}${{ item.v }} >> \#(ran)""#
    let body = isOfGroup ? #""steps": [{ "id": "inner", \#(step) }]"# : step
    let key = hasKey ? #", "key": "${{ item.n }}""# : ""
    func workflow(_ elements: String...) throws -> Workflow {
      let list = elements.map { #"{ "n": "\#($0.prefix(1))", "v": "\#($0.dropFirst())" }"# }
      return try Workflow(
        json: #"""
          { "steps": [
            { "id": "loop", "forEach": { "in": [\#(list.joined(separator: ", "))]\#(key) },
              \#(body) },
            { "id": "after", "run": "echo after >> \#(ran)", "needs": ["loop"] },
            { "run": "exit 1" }] }
          """#, path: "a.json")
    }
    let run = try await failed(try workflow("a1", "b1"))
    #expect(self.ran.sorted() == ["a1", "after", "b1"])
    let more = try workflow("a1", "b1", "c1")
    #expect(try Engine().changes(to: more, since: run, in: store)?.changed.isEmpty == false)
    #expect(try await resume(run, more) == .failure)
    #expect(self.ran.dropFirst(3) == ["c1", "after"])
    #expect(try await resume(run, more) == .failure)
    #expect(self.ran.count == 5)
    // One is gone, and one has another value. Without a key, all after it are others.
    #expect(try await resume(run, workflow("b1", "c2")) == .failure)
    #expect(self.ran.dropFirst(5).sorted() == (hasKey ? ["after", "c2"] : ["after", "b1", "c2"]))
    #expect(try Engine().changes(to: workflow("b1", "c2"), since: run, in: store) == nil)
  }

  @Test(
    "of a group with other outputs, only the outputs are computed again, and dependents run again")
  func otherOutputsAreComputedAgain() async throws {
    let ran = "\(folder.path)/ran"
    func workflow(_ output: String) throws -> Workflow {
      try Workflow(
        json: #"""
          { "steps": [
            { "id": "outer", "steps": [
                { "id": "g", "steps": [{ "id": "m", "idempotent": true, "run": "echo m | tee -a \#(ran); echo e >&2",
                    "cleanup": "echo tidy >> \#(ran)" }],
                  "outputs": { "x": "\#(output)" } }],
              "outputs": { "y": "${{ steps.g.outputs.x }}" } },
            { "id": "reader", "run": "echo ${{ steps.outer.outputs.y }} >> \#(ran)" },
            { "run": "exit 1" }] }
          """#, path: "a.json")
    }
    let run = try await failed(try workflow("${{ steps.m.outcome }}"))
    #expect(self.ran == ["m", "tidy", "success"])
    let edited = try workflow("now ${{ steps.m.exitCode }}")
    #expect(try await resume(run, edited) == .failure)
    #expect(self.ran.dropFirst(3) == ["now 0"])
    // A further engine has the new outputs.
    var options = Engine.ResumeOptions()
    options.rerunning = ["reader"]
    _ = try await Engine().resume(run, edited, options: options, in: store).report
    #expect(self.ran.dropFirst(4) == ["now 0"])
    // A value that is not recorded has to be made again.
    #expect(try await resume(run, workflow("${{ steps.m.stderr }}")) == .failure)
    #expect(self.ran.suffix(1) == ["e"])
  }

  @Test("the cleanup of a loser of a race does not run twice if it has changed itself")
  func aChangedCleanupOfALoserDoesNotRunAgain() async throws {
    let ran = "\(folder.path)/ran"
    func workflow(_ cleanup: String) throws -> Workflow {
      try Workflow(
        json: #"""
          { "steps": [{ "race": [
              { "run": "until test -e \#(ran); do sleep 0.01; done" },
              { "id": "loser", "run": "echo loser >> \#(ran); sleep 60",
                "cleanup": "echo \#(cleanup) >> \#(ran)" }] },
            { "id": "end", "run": "false" }] }
          """#, path: "a.json")
    }
    let run = try await failed(try workflow("cleanup"))
    #expect(self.ran == ["loser", "cleanup"])
    #expect(try await resume(run, workflow("other")) == .failure)
    #expect(self.ran == ["loser", "cleanup"])
  }

  @Test("an element of a loop runs again if it has another index that something in the loop reads")
  func anElementWithAnotherIndexRunsAgain() async throws {
    let ran = "\(folder.path)/ran"
    func workflow(_ list: String, _ index: String, key: String = "item.n") throws -> Workflow {
      let elements = list.map { #"{ "n": "\#($0)" }"# }.joined(separator: ", ")
      return try Workflow(
        json: #"""
          { "steps": [
            { "id": "loop", "forEach": { "in": [\#(elements)], "key": "${{ \#(key) }}" },
              "steps": [{ "env": { "SLOT": "${{ \#(index) }}" }, "run": "echo ${{ item.n }}$SLOT >> \#(ran)" }] },
            { "run": "exit 1" }] }
          """#, path: "a.json")
    }
    let run = try await failed(try workflow("ab", "index"))
    #expect(self.ran.sorted() == ["a0", "b1"])
    #expect(try await resume(run, workflow("zab", "index")) == .failure)
    #expect(self.ran.dropFirst(2).sorted() == ["a1", "b2", "z0"])
    // Those before the change stay where they are.
    #expect(try await resume(run, workflow("zb", "index")) == .failure)
    #expect(self.ran.dropFirst(5) == ["b1"])
    #expect(try await resume(run, workflow("zbc", "index")) == .failure)
    #expect(self.ran.dropFirst(6) == ["c2"])
    let other = try await failed(try workflow("ab", "item.n"))
    #expect(try await resume(other, workflow("zab", "item.n")) == .failure)
    #expect(self.ran.dropFirst(9) == ["zz"])
  }

  @Test("outputs that were computed again are kept, and those of other groups are not computed")
  func outputsAreComputedAgainOnce() async throws {
    let ran = "\(folder.path)/ran"
    func write(_ text: String) throws {
      try Descriptor.creating("\(folder.path)/x", .orEmptied).writeAll(text)
    }
    func workflow(_ output: String) throws -> Workflow {
      try Workflow(
        json: #"""
          { "cwd": "\#(folder.path)",
            "steps": [
            { "id": "around", "steps": [
                { "id": "outer", "steps": [
                    { "id": "g", "retry": 2, "outputs": { "x": "\#(output)" },
                      "steps": [{ "run": "test -e tried || { touch tried; exit 1; }" }] }],
                  "outputs": { "y": "${{ steps.g.outputs.x }}" } }],
              "outputs": { "hash": "${{ hashFiles('x') }}" } },
            { "id": "reader",
              "run": "echo ${{ steps.outer.outputs.y }} >> \#(ran); test ${{ steps.around.outputs.hash }}" },
            { "id": "last", "run": "exit 1" }] }
          """#, path: "a.json")
    }
    /// The outputs of the groups, as the report has them.
    func outputs(_ report: RunReport) -> [String: String] {
      Dictionary(
        report.groups.flatMap { group -> [(String, String)] in
          guard case .finished(let end) = group.state else { return [] }
          return end.outputs.map { ("\(group.address).\($0.name)", "\($0.value ?? .null)") }
        }, uniquingKeysWith: { first, _ in first })
    }
    try write("one")
    var settings = Engine.Options()
    settings.startDirectory = folder.path
    let engine = Engine(options: settings)
    let first = try engine.start(try workflow("attempt ${{ self.attempts }}"), in: store)
    let before = outputs(await first.report)
    #expect(self.ran == ["attempt 2"])
    let edited = try workflow("${{ self.attempts }} ${{ hashFiles('x') }}")
    var options = Engine.ResumeOptions()
    options.acceptedChanges = .all
    try write("two")
    let second = try await engine.resume(first.id, edited, options: options, in: store).report
    let found = outputs(second)
    #expect(self.ran.count == 2 && self.ran.last?.hasPrefix("2 ") == true)
    // Its outputs do not depend on those that have changed.
    #expect(found["around.hash"] == before["around.hash"])
    try write("three")
    let third = try await engine.resume(first.id, edited, in: store).report
    #expect(outputs(third) == found)
    #expect(self.ran.count == 2)
  }

  @Test func changesOfNamedStepsOnlyAreAccepted() async throws {
    let run = try await failed(try workflow("one", "two exit 1"))
    let changed = try workflow("one : changed", "two", "new")
    var options = Engine.ResumeOptions()
    options.acceptedChanges = .steps([StepAddress("one"), StepAddress("two")])
    #expect(throws: RunStoreError.self) {
      try Engine().resume(run, changed, options: options, in: store)
    }
    options.acceptedChanges = .steps([StepAddress("one"), StepAddress("two"), StepAddress("new")])
    #expect(try await Engine().resume(run, changed, options: options, in: store).report.succeeded)
    #expect(ran == ["one", "two", "one", "two", "new"])
  }

  @Test func aStoreThatKeepsNoFileRunsAllStepsOfAChangedWorkflow() async throws {
    let memory = MemoryRunStore()
    let first = try Engine().start(try workflow("one", "two exit 1"), in: memory)
    _ = await first.report
    let changed = try workflow("one", "two")
    let changes = try #require(try Engine().changes(to: changed, since: first.id, in: memory))
    #expect(changes.changed.count == 2)
    var options = Engine.ResumeOptions()
    options.acceptedChanges = .all
    let next = try Engine().resume(first.id, changed, options: options, in: memory)
    #expect(await next.report.succeeded)
    #expect(ran == ["one", "two", "one", "two"])
  }

  @Test func aRunThatHasSucceededRunsAgainFromAStep() async throws {
    let workflow = try workflow("one", "two", "three")
    let run = try Engine().start(workflow, in: store)
    #expect(await run.report.succeeded)
    var options = Engine.ResumeOptions()
    #expect(throws: RunStoreError.self) {
      try Engine().resume(run.id, workflow, options: options, in: store)
    }
    options.from = ["two"]
    let next = try Engine().resume(run.id, workflow, options: options, in: store)
    #expect(await next.report.succeeded)
    #expect(ran == ["one", "two", "three", "two", "three"])
  }

  @Test func aRunThatHasSucceededStaysSoIfNothingIsNamed() async throws {
    let steps = try workflow("one")
    let run = try Engine().start(steps, in: store)
    #expect(await run.report.succeeded)
    var options = Engine.ResumeOptions()
    options.interrupted = .rerun
    options.acceptedChanges = .all
    options.acceptsChangedFiles = true
    #expect(throws: RunStoreError.self) {
      try Engine().resume(run.id, steps, options: options, in: store)
    }
    let next = try Engine().resume(run.id, try workflow("one", "two"), options: options, in: store)
    #expect(await next.report.succeeded)
    #expect(ran == ["one", "two"])
  }

  @Test(arguments: [["three"], ["two", "three"]])
  func aStepThatWasNotSelectedRunsIfItIsNamed(expected: [String]) async throws {
    let workflow = try workflow("one", "two", "three", "four")
    var settings = Engine.Options()
    settings.only = ["two"]
    let run = try Engine(options: settings).start(workflow, in: store)
    #expect(await run.report.succeeded)
    var options = Engine.ResumeOptions()
    options.rerunning = expected
    let next = try Engine().resume(run.id, workflow, options: options, in: store)
    #expect(await next.report.succeeded)
    #expect(ran == ["one", "two"] + expected)
    options = Engine.ResumeOptions()
    options.from = ["three"]
    let last = try Engine().resume(run.id, workflow, options: options, in: store)
    #expect(await last.report.succeeded)
    #expect(ran == ["one", "two"] + expected + ["three", "four"])
  }

  @Test func aPendingCleanupThatIsRemovedIsNamed() async throws {
    func workflow(_ first: String) throws -> Workflow {
      try Workflow(
        json: #"{ "steps": [\#(first) { "id": "ask", "approve": "?" }] }"#, path: "a.json")
    }
    let base = #"{ "id": "base", "run": "true", "cleanup": "true" },"#
    let run = try Engine().start(try workflow(base), in: store)
    #expect(await run.report.pause != nil)
    let changes = try Engine().changes(to: try workflow(""), since: run.id, in: store)
    let sentence = #"removed the pending cleanup of "base": it will not run"#
    #expect(changes?.lines.last == sentence)
    // The cleanup is changed, and still runs.
    let changed = try workflow(#"{ "id": "base", "run": "true", "cleanup": "echo" },"#)
    #expect(try Engine().changes(to: changed, since: run.id, in: store)?.lines.count == 1)
  }

  @Test func valuesOfStepsThatAreNotSelectedAreThoseOfAnEarlierRunOnlyIfItIsResumed() async throws {
    let workflow = try Workflow(
      json:
        #"{ "steps": [ { "id": "each", "forEach": ["a", "b"], "run": "echo x=1 >> $WEFT_OUTPUT", "outputs": { "x": { "type": "integer" } } }, { "id": "use", "run": "echo use ${{ join(steps.each.results.*.outputs.x, '') }} >> \#(folder.path)/ran" } ] }"#
    )
    let run = try Engine().start(workflow, in: store)
    #expect(await run.report.succeeded)
    var options = Engine.Options()
    options.from = ["use"]
    let alone = try Engine(options: options).start(workflow, in: store)
    let warnings = await alone.events.reduce(into: [RunWarning]()) { warnings, event in
      if case .runWarning(let warning) = event.kind { warnings.append(warning) }
    }
    #expect(warnings.map(\.kind) == [.unselectedValues])
    #expect(warnings.first?.help?.contains("weft resume RUN --from use") == true)
    var resuming = Engine.ResumeOptions()
    resuming.from = ["use"]
    let next = try Engine().resume(run.id, workflow, options: resuming, in: store)
    let more = await next.events.contains { event in
      if case .runWarning = event.kind { true } else { false }
    }
    #expect(!more)
    #expect(ran == ["use 11", "use ", "use 11"])
  }

  @Test func aSingleElementRunsAgain() async throws {
    let workflow = try Workflow(
      json:
        #"{ "steps": [ { "id": "each", "forEach": { "in": ["a", "b"] }, "run": "echo ${{ item }} >> \#(folder.path)/ran" } ] }"#
    )
    var options = Engine.Options()
    options.maxParallel = 1
    let run = try Engine(options: options).start(workflow, in: store)
    #expect(await run.report.succeeded)
    let address = try #require(
      await run.events.first { event in
        if case .stepFinished = event.kind { true } else { false }
      }.flatMap { event in
        if case .stepFinished(let step, _) = event.kind { step } else { nil }
      })
    var resuming = Engine.ResumeOptions()
    resuming.rerunning = [address.text]
    let next = try Engine(options: options).resume(run.id, workflow, options: resuming, in: store)
    #expect(await next.report.succeeded)
    #expect(ran.count == 3)
  }

  @Test func aDamagedJournalIsSalvaged() async throws {
    let workflow = try workflow("one", "two exit 1")
    let run = try await failed(workflow)
    let path = "\(store.directory)/runs/\(run)/journal.jsonl"
    var bytes = try FileReading.bytes(of: path)
    // The last line but one.
    let last = try #require(bytes.dropLast().lastIndex(of: UInt8(ascii: "\n")))
    let before = try #require(bytes[..<last].lastIndex(of: UInt8(ascii: "\n")))
    bytes[before + 20] ^= 1
    try Descriptor.creating(path, .orEmptied).writeAll(bytes)
    var options = Engine.ResumeOptions()
    #expect(throws: RunStoreError.self) {
      try Engine().resume(run, workflow, options: options, in: store)
    }
    options.salvages = true
    options.interrupted = .rerun
    let next = try Engine().resume(run, workflow, options: options, in: store)
    #expect(await next.report.end?.outcome == .failure)
    #expect(ran == ["one", "two", "two"])
  }

  @Test func oldRunsThatHaveEndedAreRemoved() async throws {
    var options = Engine.Options()
    options.keptRuns = 2
    let waiting = Workflow(
      name: "waits", steps: [Step("ask", approve: "continue?")])
    let suspended = try Engine().start(waiting, in: store)
    #expect(await suspended.report.pause != nil)
    var last: [RunID] = []
    for _ in 0..<4 {
      let run = try Engine(options: options).start(try workflow("one"), in: store)
      #expect(await run.report.succeeded)
      last.append(run.id)
    }
    #expect(store.runs.contains(suspended.id) && store.runs.contains(last[3]))
    #expect(store.runs.count <= 4 && !store.runs.contains(last[0]))
  }

  @Test func anotherEngineIsAskedThroughTheStore() async throws {
    let workflow = Workflow(steps: [
      Step("ask", approve: "continue?"), Step(id: "wait", action: .wait(.duration(.seconds(600)))),
    ])
    let first = try Engine().start(workflow, in: store)
    #expect(await first.report.pause?.requests.count == 1)
    try store.answer(StepAddress("ask"), of: first.id, approved: true)
    let second = try Engine().resume(first.id, workflow, in: store)
    for await event in second.events {
      if case .stepFinished(StepAddress("ask"), _) = event.kind { break }
    }
    try store.cancel(first.id)
    #expect(await second.report.end?.outcome == .cancelled)
    let unknown = RunID(validating: "20200101-000000-abcdef")!
    #expect(throws: RunStoreError.self) { try store.cancel(unknown) }
  }

  @Test func aPlanIsRecordedToo() async throws {
    let engine = Engine()
    let run = try engine.start(try engine.plan(try workflow("one")), in: store)
    #expect(await run.report.succeeded)
    #expect(store.runs == [run.id])
    #expect(FileSystem.isDirectory("\(store.directory)/runs/\(run.id)"))
  }
}
