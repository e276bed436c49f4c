import TestSupport
import Testing
import Weft
import WeftEncoding
import WeftPlatform

/// The variables by which a step knows its run and its earlier attempts.
@Suite(.hangLimit) struct RunDirectoryTests {
  private static let report = "echo \"$WEFT_RUN_DIR\"; echo \"$WEFT_IDEMPOTENCY_KEY\""

  private func lines(_ run: Run, _ step: String) -> [String] {
    String(decoding: run.output(of: StepAddress(step)), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
  }

  private func key(_ run: Run, _ step: String) -> String {
    SHA256.text(of: SHA256.digest(of: Array("\(run.id)\n\(step)".utf8)))
  }

  @Test func aRecordedRunHasADirectory() async throws {
    let folder = try Scratch()
    var workflow = Workflow(
      name: "of ${{ run.dir }}",
      steps: [
        Step("tells", run: Self.report),
        Step("reads", run: ["printf", "%s\\n", "${{ run.dir }}", "${{ keys(run) }}"]),
      ])
    workflow.outputs = [OutputDeclaration("dir", value: "${{ run.dir }}")]
    let run = try Engine().start(workflow, in: FileRunStore(directory: folder.path + "/.weft"))
    let report = await run.report
    let directory = "\(folder.path)/.weft/runs/\(run.id)"
    #expect(report.succeeded)
    #expect(FileSystem.isDirectory(directory))
    #expect(lines(run, "tells").first == directory)
    #expect(lines(run, "reads") == [directory, "id", "attempt", "dir", "args"])
    #expect(report.end?.outputs.first?.value == .string(directory))
  }

  @Test func aRunWithoutARecordHasNone() async throws {
    var inherited = Step(
      "tells", run: "echo \"${WEFT_RUN_DIR-none}\"; echo ${{ run.dir || 'none' }}")
    inherited.settings.environment = ["WEFT_RUN_DIR": "of the file"]
    let run = try Engine().start(
      Workflow(steps: [inherited, Step("text", run: "echo ${{ run.dir }}")]))
    let report = await run.report
    #expect(lines(run, "tells") == ["none", "none"])
    #expect(report.end?.firstFailure == StepAddress("text"))
  }

  @Test func aStepKeepsItsKeyInEveryAttemptAndInAResumedRun() async throws {
    let folder = try Scratch()
    let mark = "\(folder.path)/mark"
    let store = FileRunStore(directory: folder.path + "/.weft")
    let again = Step(
      "again",
      run: "echo $WEFT_IDEMPOTENCY_KEY >> \(mark); test $WEFT_ATTEMPT -eq 2 && test -e \(mark).go"
    ).retry(RetryPolicy(max: 1, delay: .zero))
    let each = Step("each", run: Self.report).forEach(["x", "y"], as: "one")
    let workflow = Workflow(steps: [each, again])
    let first = try Engine().start(workflow, in: store)
    #expect(await !first.report.succeeded)
    #expect(lines(first, "each[0]").last == key(first, "each[0]"))
    #expect(lines(first, "each[1]").last == key(first, "each[1]"))
    try Descriptor.creating("\(mark).go", .onlyNew).writeAll([])
    let second = try Engine().resume(first.id, workflow, in: store)
    #expect(await second.report.succeeded)
    let reported = String(decoding: try FileReading.bytes(of: mark), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    #expect(reported == Array(repeating: key(first, "again"), count: 4))
  }
}
