import Weft
import WeftFutures

/// Deploys versions by one workflow file: a service with Weft inside.
public final class DeployService: Sendable {
  private let engine: Engine
  private let store: FileRunStore
  private let workflow: Workflow

  /// The actions that the workflow may use.
  public static let actions = [Action("scan", run: scan)]

  /// - Parameters:
  ///   - path: The workflow file.
  ///   - directory: The directory for recorded runs, and that of the steps.
  /// - Throws: ``WorkflowError`` with everything that is wrong with the file.
  public init(_ path: String, in directory: String) throws {
    var options = Engine.Options()
    options.startDirectory = directory
    engine = Engine(options: options, actions: DeployService.actions)
    let checked = engine.check(contentsOf: path)
    workflow = try checked.acceptedWorkflow
    // Warnings do not prevent a run.
    if !checked.diagnostics.isEmpty {
      let text = String(decoding: checked.diagnostics.rendered(as: .text), as: UTF8.self)
      print(text, terminator: "")
    }
    store = FileRunStore(directory: "\(directory)/.weft")
  }

  /// Starts a deployment.
  public func deploy(_ version: String) throws -> Deployment {
    Deployment(try engine.start(workflow, inputs: ["version": .string(version)], in: store))
  }

  /// Continues a deployment that waits for a review, failed, or lost its process.
  public func resume(_ run: RunID) throws -> Deployment {
    Deployment(try engine.resume(run, workflow, in: store))
  }

  /// Answers the review of a deployment, in whatever process it is.
  public func review(_ run: RunID, approved: Bool) throws {
    for request in try store.recorded(run).pendingApprovals {
      try store.answer(request.step, of: run, approved: approved)
    }
  }

  /// The latest deployments, the newest first.
  public func latest(_ count: Int) throws -> [RunListEntry] { try store.list(atMost: count) }

  /// A page about a deployment: timeline, graph, steps, logs.
  public func page(of run: RunID) throws -> [UInt8] { try store.recorded(run).rendered(as: .html) }
}

/// A deployment in progress or finished.
public struct Deployment: Sendable {
  private let run: Run

  init(_ run: Run) { self.run = run }

  /// The run's ID, for people and for ``DeployService/resume(_:)``.
  public var id: RunID { run.id }

  /// The share of steps that are done, as it changes.
  public var progress: Publisher<String, Never> { Deployment.progress(of: Publisher(run.events)) }

  /// Counts the steps that are done.
  static func progress(of events: Publisher<RunEvent, Never>) -> Publisher<String, Never> {
    events
      .scan((done: 0, steps: 0)) { counted, event in
        switch event.kind {
        case .runStarted(let start): (0, start.stepCount)
        case .stepFinished, .stepSkipped, .stepRestored: (counted.done + 1, counted.steps)
        default: counted
        }
      }
      .map { "\($0.done) of \($0.steps)" }
      .removeDuplicates()
  }

  /// Cancels the deployment; what was started is cleaned up.
  public func cancel() { run.cancel() }

  /// The outcome in a word, once there is one.
  public var outcome: String {
    get async {
      let report = await run.report
      if let pause = report.pause { return "waiting for \(pause.requests.map(\.message))" }
      return report.end?.outcome.rawValue ?? "unknown"
    }
  }
}
