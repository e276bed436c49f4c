import TestSupport
import Testing
import Weft
import WeftPlatform

/// Actions that the embedding program has registered, through the public API alone.
@Suite(.hangLimit) struct ActionTests {
  @Test("E10: the example of Actions.md runs")
  func theDocumentedExampleRuns() async throws {
    let measure = Action("measure") { context in
      guard case .string(let path)? = context["path"] else { throw ActionError("there is no path") }
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

  @Test("E09: a value of a parameter is data, and only a text is evaluated")
  func onlyTextsAreEvaluated() async throws {
    let echo = Action("echo") { context in context["v"] ?? .null }
    func passed(_ value: Parameter.Value) async throws -> JSONValue? {
      var workflow = Workflow(steps: [Step("s", use: "echo", with: [Parameter("v", value)])])
      workflow.inputs = [InputDeclaration("x")]
      workflow.outputs = [OutputDeclaration("v", value: "${{ steps.s.json }}")]
      let report = await (try Engine(actions: [echo]).start(workflow, inputs: ["x": 7])).report
      return report.end?.outputs.first?.value
    }
    #expect(try await passed(.text("${{ inputs.x }}")) == 7)
    #expect(try await passed(.value("${{ inputs.x }}")) == "${{ inputs.x }}")
  }

  @Test func anActionReportsItsProgressAsOftenAsItLikes() async throws {
    let count = Action("count") { context in
      for number in 1...10_000 { context.report(StepProgress(number, of: 10_000, text: "part")) }
      return .null
    }
    let run = try Engine(actions: [count]).start(Workflow(steps: [Step("c", use: "count")]))
    var reports: [StepProgress] = []
    let began = ContinuousClock.now
    for await event in run.events {
      if case .stepProgress(_, let progress) = event.kind { reports.append(progress) }
    }
    let tenths = Int((ContinuousClock.now - began) / .milliseconds(100))
    #expect(reports.first?.done == 1 && reports.last?.done == 10_000)
    #expect(reports.count <= tenths + 3, "ten a second, the first and the last")
  }

  struct MissingParameter: Error { let name: String }

  // MARK: Types of its own

  private struct Photo: Decodable {
    struct Crop: Decodable { let width: Int }
    let path: String
    let crops: [Crop]
    let note: String?
  }

  private struct Size: Encodable { let width, height: Double }

  private static let size = Action("size") { (photo: Photo, context) async throws -> Size in
    context.log(photo.path)
    if photo.path.isEmpty { throw ActionError("there is no photo", help: "take one first") }
    return Size(width: Double(photo.crops.first?.width ?? 0), height: 1 / Double(photo.crops.count))
  }

  private func end(with parameters: String) async throws -> (StepEnd, log: String) {
    let workflow = try Workflow(
      json: #"{ "steps": [{ "id": "s", "use": "size", "with": \#(parameters) }] }"#)
    let run = try Engine(actions: [ActionTests.size]).start(workflow)
    let report = await run.report
    guard case .finished(let end)? = report.steps.first?.state else { throw NoEnd() }
    return (end, String(decoding: run.output(of: StepAddress("s")), as: UTF8.self))
  }

  private struct NoEnd: Error {}

  @Test func typedParametersAreDecodedAndTheResultIsEncoded() async throws {
    let workflow = try Workflow(
      json: """
        { "inputs": { "width": { "type": "integer" } },
          "steps": [
            { "id": "list", "run": "echo '[{\\"width\\": 640}, {\\"width\\": 2}]'",
              "outputs": { "crops": "${{ self.json }}" } },
            { "id": "s", "use": "size",
              "with": { "path": "cat", "crops": "${{ steps.list.outputs.crops }}", "extra": 1 } }],
          "outputs": { "size": "${{ steps.s.json }}" } }
        """)
    let run = try Engine(actions: [ActionTests.size]).start(workflow, inputs: ["width": 1])
    let report = await run.report
    #expect(report.succeeded)
    #expect(
      report.end?.outputs == [ReportedOutput(name: "size", value: ["width": 640, "height": 0.5])])
  }

  @Test(
    arguments: [
      (#"{ "path": 1, "crops": [] }"#, "path: expected a string, found a number"),
      (#"{ "crops": [] }"#, "there is no member \"path\""),
      (
        #"{ "path": "a", "crops": [{ "width": 1 }, { "width": "2" }] }"#,
        "crops[1].width: expected a number, found a string"
      ),
    ])
  func parametersThatDoNotFitAreNamedAndTheActionIsNotCalled(
    _ parameters: String, problem: String
  ) async throws {
    let (end, log) = try await end(with: parameters)
    #expect(end.failure?.classes == [.action])
    #expect(end.failure?.message == "\"size\" cannot read its parameters: \(problem)")
    #expect(end.failure?.help == "change the step's \"with\"")
    #expect(log.isEmpty)
  }

  @Test func resultThatIsNoJSONFailsTheStepWithItsMember() async throws {
    let (end, log) = try await end(with: #"{ "path": "a", "crops": [] }"#)
    #expect(log == "a\n")
    #expect(end.failure?.classes == [.action])
    #expect(
      end.failure?.message
        == "\"size\" returned what JSON cannot hold: height: JSON has no number inf")
  }

  @Test func anActionErrorIsReportedAsItIsWithItsHelp() async throws {
    let (end, _) = try await end(with: #"{ "path": "", "crops": [] }"#)
    #expect(end.failure?.message == "there is no photo")
    #expect(end.failure?.help == "take one first")
    #expect("\(ActionError("there is no photo", help: "take one first"))" == "there is no photo")
  }

  @Test func otherErrorsAreReportedAsThrown() async throws {
    let action = Action("a") { _ in throw MissingParameter(name: "x") }
    let report = await
      (try Engine(actions: [action]).start(
        Workflow(steps: [Step("s", use: "a")]))).report
    guard case .finished(let end)? = report.steps.first?.state else { throw NoEnd() }
    #expect(end.failure?.message == "threw an error: MissingParameter(name: \"x\")")
    #expect(end.failure?.help == nil)
  }

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
