import Testing
import Weft
import WeftPlatform

/// Actions that the embedding program has registered, through the public API alone.
@Suite(.timeLimit(.minutes(10))) struct ActionTests {
  @Test("the example of Actions.md")
  func theDocumentedExampleRuns() async throws {
    let measure = Action("measure") { context in
      guard case .string(let path)? = context["path"] else { throw MissingParameter(name: "path") }
      context.log("looking at \(path)")
      return ["path": .string(path), "width": 640]
    }
    let engine = Engine(actions: [measure])
    let workflow = try Workflow(
      json: """
        {
          "steps": [
            { "id": "size", "use": "measure", "with": { "path": "cat.png" }, "timeout": "10s" },
            { "run": ["echo", "${{ steps.size.json.width }} pixels"] }
          ]
        }
        """)
    let run = try engine.start(workflow)
    let report = await run.report

    #expect(report.succeeded)
    let written = report.steps.map { String(decoding: run.output(of: $0.address), as: UTF8.self) }
    #expect(written == ["looking at cat.png\n", "640 pixels\n"])
  }

  struct MissingParameter: Error { let name: String }

  @Test func workflowWithAnUnregisteredActionIsRejected() throws {
    let workflow = Workflow(steps: [Step(use: "resize")])
    let rejection = #expect(throws: WorkflowError.self) { try Engine().start(workflow) }
    #expect(rejection?.diagnostics.map(\.code) == ["W0224"])
    let other = Engine(actions: [Action("resizes") { _ in .null }])
    let reported = #expect(throws: WorkflowError.self) { try other.plan(workflow) }
    #expect(reported?.diagnostics.first?.help == "did you mean \"resizes\"?")
  }

  @Test(
    "G12: eight actions that block at once stall neither programs, nor other actions, nor the host's tasks"
  )
  func actionsThatBlockStallNothing() async throws {
    let gates = (0..<8).map { _ in Wakeup() }
    let block = Action("block") { context in
      guard case .number(let index)? = context["gate"] else { return .null }
      context.log("blocks")
      gates[index.asInt ?? 0].wait()
      return .null
    }
    let quick = Action("quick") { _ in
      await Task.yield()
      return .string("quick")
    }
    var options = Engine.Options()
    options.maxParallel = 8
    let engine = Engine(options: options, actions: [block, quick])
    let blocked = try engine.start(
      Workflow(steps: [
        Step(use: "block", with: [Parameter("gate", .text("${{ item }}"))])
          .forEach(ForEach(in: .values(.array((0..<8).map { .number(JSONNumber($0)) }))))
      ]))
    var blocking = 0
    for await event in blocked.events {
      if case .stepOutput = event.kind { blocking += 1 }
      if blocking == 8 { break }
    }

    let other = try engine.start(
      Workflow(steps: [Step(run: "echo program"), Step(use: "quick"), Step(run: ["true"])]))
    #expect(await other.report.succeeded)
    let sum = await withTaskGroup(of: Int.self) { group in
      for number in 0..<100 {
        group.addTask {
          await Task.yield()
          return number
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 4950)
    #expect(blocked.progress.end == nil)

    for gate in gates { gate.wake() }
    #expect(await blocked.report.succeeded)
  }

  @Test func aRunEndsWithoutAnActionThatDoesNot() async throws {
    let gate = Wakeup()
    let stuck = Action("stuck") { context in
      context.log("stuck")
      gate.wait()
      return .null
    }
    var options = Engine.Options()
    options.grace = .milliseconds(1)
    let run = try Engine(options: options, actions: [stuck]).start(
      Workflow(steps: [Step("a", use: "stuck")]))
    var warnings: [RunWarning.Kind] = []
    for await event in run.events {
      if case .stepOutput = event.kind { run.cancel() }
      if case .runWarning(let warning) = event.kind { warnings.append(warning.kind) }
    }
    #expect(await run.report.end?.outcome == .cancelled)
    #expect(warnings == [.actionLeftBehind])
    gate.wake()
  }
}
