import CWeftBenchmarks
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftFutures
import WeftPlanning
import WeftPlatform

/// The engine alone, from a plan to the report of its run: the steps do nothing, and there are no subscribers.
///
/// The baseline is the bare graph of futures for the plan: one future for each node that waits for the node's
/// dependencies, without a join if there is only one, and does nothing.
enum EngineBenchmarks {
  static var all: [Benchmark] {
    [
      Benchmark("engine/steps") { report in
        let layers = samples(
          of: layered(steps: 1_000_000, layers: 1_000), steps: 1_000_000, times: report.runs(3))
        add(
          "1,000,000 steps in 1,000 layers", layers.map(\.engine), "its graph of futures",
          layers.map(\.bare), report)
        let elements = samples(of: loop(100_000), steps: 100_000, times: report.runs(3))
        add(
          "100,000 elements", elements.map(\.engine), "steps in layers", layers.map(\.engine),
          report)
      },
      // Small enough for tools that count instructions, which are fifty times as slow.
      Benchmark("engine/steps-once", isForTools: true) { report in
        let once = samples(of: layered(steps: 20_000, layers: 20), steps: 20_000, times: 1)
        add(
          "20,000 steps in 20 layers", once.map(\.engine), "its graph of futures",
          once.map(\.bare), report)
      },
      Benchmark("engine/elements-once", isForTools: true) { report in
        let once = samples(of: loop(5_000), steps: 5_000, times: 1)
        add(
          "5,000 elements", once.map(\.engine), "its graph of futures", once.map(\.bare), report)
      },
    ]
  }

  private static func loop(_ elements: Int) -> Workflow {
    Workflow(steps: [
      Step("each", run: ["true"]).forEach((0..<elements).map { String($0) })
    ])
  }

  private static func layered(steps: Int, layers: Int) -> Workflow {
    let width = steps / layers
    return Workflow(
      steps: (0..<layers).map { _ in
        Step(parallel: (0..<width).map { _ in Step(run: ["true"]) })
      })
  }

  private static func samples(
    of workflow: Workflow, steps: Int, times: Int
  ) -> [(engine: FutureSample, bare: FutureSample)] {
    guard let plan = Planner.plan(workflow).plan else {
      preconditionFailure("a workflow that is to be measured is no plan")
    }
    return (0..<times).map { _ in
      (sample(of: plan, steps: steps), bareGraph(of: plan, steps: steps))
    }
  }

  private static func add(
    _ name: String, _ measured: [FutureSample], _ baselineName: String,
    _ baseline: [FutureSample], _ report: BenchmarkReport
  ) {
    for (unit, value) in FutureSample.columns {
      report.add(
        BenchmarkRow(
          name: name, measured: measured.map(value).median,
          unit: unit, baselineName: baselineName, baseline: baseline.map(value).median))
    }
  }

  /// The time from plan to report, and the memory allocated at its end.
  private static func sample(of plan: Plan, steps: Int) -> FutureSample {
    var configuration = EngineConfiguration()
    configuration.maxParallel = 2
    let before = weft_allocated_bytes()
    let start = MonotonicClock.now
    let run = RunEngine.start(
      plan, configuration: configuration, executor: NothingExecutor(), time: FrozenTime())
    precondition(run.report.succeeded, "the run has not ended, or not well")
    let time = MonotonicClock.now - start
    let bytes = weft_allocated_bytes() - before
    return withExtendedLifetime(run) {
      FutureSample(
        nanoseconds: time.nanosecondsAsDouble / Double(steps), bytes: Double(bytes) / Double(steps))
    }
  }

  private static func bareGraph(of plan: Plan, steps: Int) -> FutureSample {
    var sample = FutureSample.measure(
      nodes: steps,
      build: { () -> (Promise<Void, Never>, [Future<Void, Never>]) in
        let promise = Promise<Void, Never>(ifDropped: .success(()))
        var futures = Array(repeating: promise.future, count: plan.nodes.count)
        for node in plan.topologicalOrder {
          let needed = plan.dependencies[Int(node)].map { futures[Int($0)] }
          futures[Int(node)] =
            needed.count > 1
            ? Future.zip(needed).flatMap { _ in Future(value: ()) }
            : (needed.first ?? promise.future).flatMap { Future(value: ()) }
        }
        return (promise, futures)
      }, finish: { graph in graph.0.succeed(()) })
    sample.bytes = max(sample.bytes, 0)
    return sample
  }
}

/// An executor whose attempts have succeeded before they began.
private struct NothingExecutor: StepExecutor {
  func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    Future(value: AttemptEnd(.ended(.code(0))))
  }
}

/// A clock that never advances.
private struct FrozenTime: TimeSource {
  var now: Duration { .zero }

  func schedule(
    after delay: Duration, _ action: @escaping @Sendable () -> Void
  ) -> TimerToken { TimerToken {} }
}

extension Duration {
  fileprivate var nanosecondsAsDouble: Double {
    Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
  }
}
