import TestSupport
import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct LoopRunTests {
  @Test func aStepRunsOnceForEachElement() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("e", run: ["${{ item }}", "${{ index }}"]).forEach(["x", "y"]),
        Step("z", run: ["z"]),
      ]))
    #expect(run.running == ["e[0]", "e[1]"])
    #expect(
      run.executor.attempts.map(\.resolved.command?.invocation)
        == [.program(["x", "0"]), .program(["y", "1"])])
    run.executor.exit("e[1]")
    run.executor.exit("e[0]")
    #expect(run.running == ["z"])
  }

  @Test func theElementsMayBeFiles() throws {
    let folder = try Folder()
    for name in ["b.txt", "a'b.txt", "c.md"] { folder.write(name, "") }
    let run = try RunHarness(
      Workflow(steps: [Step("e", run: ["${{ file }}"]).forEach(files: "*.txt", as: "file")])
    ) { $0.startDirectory = folder.path }
    #expect(run.running == ["e[a'b.txt]", "e[b.txt]"])
    #expect(
      run.executor.attempts.map(\.resolved.command?.invocation)
        == [.program(["a'b.txt"]), .program(["b.txt"])])
  }

  @Test func noMoreElementsAreUnderWayThanMayBe() throws {
    let run = try RunHarness(
      Workflow(steps: [Step("e", run: ["e"]).forEach(["x", "y", "z"], maxParallel: 1)]))
    for element in 0..<3 {
      #expect(run.running == ["e[\(element)]"])
      run.executor.exit("e[\(element)]")
    }
    #expect(run.run.report.succeeded)
  }

  @Test func noMoreCombinationsAreUnderWayThanMayBe() throws {
    let axes = [Matrix.Axis("os", .values(["x", "y"]))]
    let group = Step("g", steps: [Step("a", run: ["a"]), Step("b", run: ["b"])])
    let run = try RunHarness(
      Workflow(steps: [
        group.matrix(Matrix(axes: axes, maxParallel: 1, tolerating: .count(1))),
        Step("z", run: ["z"]),
      ]))
    run.executor.exit("g[x].a")
    #expect(run.running == ["g[x].b"])
    run.executor.exit("g[x].b", code: 1)
    #expect(run.running == ["g[y].a"])
    run.executor.exit("g[y].a")
    run.executor.exit("g[y].b")
    #expect(run.running == ["z"])
  }

  @Test func noElementsAreASuccess() throws {
    let run = try RunHarness(
      Workflow(steps: [Step("e", run: ["e"]).forEach([]), Step("z", run: ["z"])]))
    #expect(run.running == ["z"])
  }

  @Test func soManyElementsMayFailAsAreTolerated() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("e", run: ["e"]).forEach(["x", "y"], tolerating: .count(1)), Step("z", run: ["z"]),
      ]))
    run.executor.exit("e[0]", code: 1)
    run.executor.exit("e[1]")
    #expect(run.running == ["z"])
    run.executor.exit("z")
    #expect(run.run.report.succeeded)
    #expect(run.run.report.end?.counts.tolerated == 1)
  }

  @Test func loopStopsStartingAfterOneFailureTooMany() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("e", run: ["e"]).forEach(["x", "y", "z"], maxParallel: 1), Step("z", run: ["z"]),
      ]))
    run.executor.exit("e[0]", code: 1)
    #expect(run.running == [])
    #expect(run.run.report.end?.outcome == .failure)
    #expect(run.run.report.end?.firstFailure?.text == "e[0]")
  }

  @Test func failedElementBlocksOnlyItsOwnSteps() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("g", steps: [Step("a", run: ["a"]), Step("b", run: ["b"])])
          .forEach(["x", "y"], tolerating: .count(1))
      ]))
    run.executor.exit("g[0].a", code: 1)
    run.executor.exit("g[1].a")
    #expect(run.running == ["g[1].b"])
    run.executor.exit("g[1].b")
    #expect(run.run.report.succeeded)
  }

  @Test func resultsAreInTheOrderOfTheElements() throws {
    var each = Step("e", run: ["e"]).forEach(["x", "y"])
    each.outputs = [OutputDeclaration("o", value: "${{ item }}${{ self.stdout }}")]
    let run = try RunHarness(
      Workflow(steps: [
        each, Step("z", run: ["z", "${{ join(steps.e.results.*.outputs.o, '+') }}"]),
      ]))
    run.executor.write("2", from: "e[1]")
    run.executor.exit("e[1]")
    run.executor.write("1", from: "e[0]")
    run.executor.exit("e[0]")
    #expect(
      run.executor.attempts.first?.resolved.command?.invocation == .program(["z", "x1+y2"]))
  }

  @Test func anObjectsElementsAreCalledByItsKeys() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("e", run: ["${{ item }}"]).forEach(
          "${{ fromJSON('{\"eu\": 1, \"us\": 2}') }}")
      ]))
    #expect(run.running == ["e[eu]", "e[us]"])
  }

  @Test func veryManyElementsAreMadeAsTheyAreNeeded() throws {
    let run = try RunHarness(
      Workflow(steps: [Step("e", run: ["e"]).forEach((0..<largeCount).map { String($0) })]),
      maxParallel: 2)
    #expect(run.running == ["e[0]", "e[1]"])
    #expect(run.run.report.steps.count < 200)
    run.run.cancel(.requested)
    run.executor.end("e[0]", .stopped(nil))
    run.executor.end("e[1]", .stopped(nil))
    #expect(run.run.report.end?.outcome == .cancelled)
  }

  @Test func combinationsOfAMatrixAreElements() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("m", run: ["${{ matrix.os }}", "${{ matrix.arch }}"])
          .matrix(["os": ["linux", "mac"], "arch": ["arm"]])
      ]))
    #expect(run.running == ["m[linux, arm]", "m[mac, arm]"])
  }

  @Test func elementsRunInSequenceWithOneSlot() throws {
    let run = try RunHarness(
      Workflow(parallel: [
        Step("before", run: ["before"]),
        Step(
          "g",
          parallel: [
            Step("a", run: ["a"]), Step("b", run: ["b"]).forEach(["p", "q"]),
            Step("h", steps: [Step("c", run: ["c"]), Step("d", run: ["d"])]).forEach(["r", "s"]),
          ]
        ).forEach(["x", "y"]),
        Step("after", run: ["after"]),
      ]), maxParallel: 1)
    var order: [String] = []
    while let next = run.running.first, run.running.count == 1 {
      order.append(next)
      run.executor.exit(next)
    }
    let inside = ["a", "b[0]", "b[1]", "h[0].c", "h[0].d", "h[1].c", "h[1].d"]
    #expect(
      order == ["before"] + inside.map { "g[0].\($0)" } + inside.map { "g[1].\($0)" } + ["after"])
  }

  @Test func retryKeepsItsOrderWithOneSlot() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step(
          "g",
          steps: [
            Step("h", steps: [Step("c", run: ["c"]), Step("d", run: ["d"])]).forEach(["x", "y"])
          ]
        ).retry(RetryPolicy(max: 1, jitter: .none))
      ]), maxParallel: 1)
    var order: [String] = []
    func finishAll() {
      while let next = run.running.first {
        order.append(next)
        run.executor.exit(next, code: order.count == 4 ? 1 : 0)
      }
    }
    finishAll()
    run.time.advance(by: .seconds(1))
    finishAll()
    let attempt = ["h[0].c", "h[0].d", "h[1].c", "h[1].d"]
    #expect(order == attempt + attempt)
  }

  /// The current element ends by itself: only the loop knows that other elements never started.
  @Test(arguments: [(0, FanOutTolerance.percent(100)), (1, .percent(100)), (0, .count(0))])
  func aRunThatIsCancelledWhileElementsAreLeftIsCancelled(
    code: Int, tolerance: FanOutTolerance
  ) throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("e", run: ["e"]).forEach(["x", "y"], maxParallel: 1, tolerating: tolerance)
      ]))
    run.run.cancel(.requested)
    run.executor.exit("e[0]", code: code)
    #expect(run.run.report.end?.outcome == .cancelled)
    #expect(run.run.report.end?.cancellation == .requested)
  }

  @Test func aCancellationThatLeavesNothingOutChangesNothing() throws {
    let run = try RunHarness(
      Workflow(steps: [Step("e", run: ["e"]).forEach(["x", "y"], maxParallel: 1)]))
    run.executor.exit("e[0]")
    run.run.cancel(.requested)
    run.executor.exit("e[1]")
    #expect(run.run.report.end?.outcome == .success)
  }
}
