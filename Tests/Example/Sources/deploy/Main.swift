import DeployService
import Weft
import WeftFutures

/// `deploy FILE DIRECTORY VERSION`: deploys, approves its own review, and continues.
@main
enum Main {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4 else { return print("usage: deploy FILE DIRECTORY VERSION") }
    do {
      let service = try DeployService(arguments[1], in: arguments[2])
      let deployment = try service.deploy(arguments[3])
      for await progress in deployment.progress.values() { print(progress) }
      print(await deployment.outcome)
      try service.review(deployment.id, approved: true)
      print(await (try service.resume(deployment.id)).outcome)
      for run in try service.latest(1) { print(run.state, run.counts.succeeded) }
      print(try service.page(of: deployment.id).count > 10_000)
    } catch let error as WorkflowError {
      print(error)
    }
  }
}
