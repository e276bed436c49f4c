import Testing
import Weft
import WeftFutures
import WeftTestKit

@testable import DeployService

/// The workflow and the action of the service, without a process, a person or a wait.
struct DeploymentTests {
  private static let file =
    "\(#filePath.split(separator: "/Tests/DeployServiceTests")[0])/deploy.json"

  private func run(_ version: String = "1.2") throws -> TestRun {
    let workflow = try Workflow(contentsOf: DeploymentTests.file)
    return try TestRun(
      workflow, inputs: ["version": .string(version)], actions: DeployService.actions)
  }

  /// Actions are tasks, which a test has to wait for.
  private func wait(until isTrue: () -> Bool) async {
    while !isTrue() { try? await Task.sleep(for: .milliseconds(1)) }
  }

  @Test func aReviewedVersionIsPushed() async throws {
    let run = try run()
    #expect(run.runningSteps == ["build"])
    run.exit("build")
    await wait { run.clock.sleeperCount > 0 }
    run.clock.advance(by: .milliseconds(200))
    await wait { run.events.outcome(of: "scan") != nil }
    #expect(run.events.has(.wrote("scanning image-1.2", by: "scan")))
    run.approve("review")
    await wait { run.runningSteps == ["push"] }
    run.exit("push")
    await wait { run.runningSteps == ["tidy"] }
    run.exit("tidy")
    await wait { run.report.end != nil }
    #expect(run.report.succeeded)
    #expect(run.events.has(.finished("scan", .success), before: .started("push")))
  }

  @Test func aFailedBuildIsNotReviewed() throws {
    let run = try run()
    run.exit("build", code: 2)
    run.exit("tidy")
    #expect(run.report.end?.firstFailure?.text == "build")
    #expect(run.events.has(.skipped("push")))
  }

  @Test func aVersionIsChecked() {
    #expect(throws: WorkflowError.self) { try run("next") }
  }

  @Test func progressCountsEachStepOnce() async throws {
    let run = try run()
    run.exit("build", code: 2)
    run.exit("tidy")
    let progress = Deployment.progress(of: Publisher(Array(run.events)))
    // The scan, the review and the push are skipped.
    #expect(await progress.collect().value.last == "5 of 5")
  }
}
