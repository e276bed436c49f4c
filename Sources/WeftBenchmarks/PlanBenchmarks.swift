import WeftDefinition
import WeftDiagnostics
import WeftJSON
import WeftPlanning
import WeftPlatform

/// Planning and printing layered graphs, each step with five edges into the layer before.
enum PlanBenchmarks {
  static var all: [Benchmark] {
    let graph = LayeredGraph(steps: 100_000, edges: 5)
    return [
      Benchmark("plan/steps") { report in
        for steps in [10_000, 100_000] { planning(LayeredGraph(steps: steps, edges: 5), report) }
      },
      Benchmark("plan/file") { report in
        for edges in [5, 10] { reading(LayeredGraph(steps: 100_000, edges: edges), report) }
      },
      Benchmark("plan/ninja") {
        beside(
          StepGraph(
            name: "100,000 steps with 5 edges each", steps: 100_000, layers: 1000, edges: 5), $0)
      },
      Benchmark("plan/references") { checking(ReferringGraph(steps: 100_000), $0) },
    ]
      + PlanFormat.allCases.map { format in
        Benchmark("plan/\(format.rawValue)") { printing(graph, as: format, $0) }
      }
  }

  private static func planning(_ graph: LayeredGraph, _ report: BenchmarkReport) {
    let workflow = graph.workflow
    let (measured, baseline) = milliseconds(
      report, { keep(Planner.plan(workflow).plan) }, { keep(graph.sortedByCounting()) })
    report.add(
      BenchmarkRow(
        name: graph.name, measured: measured, unit: "ms",
        baselineName: "Kahn's algorithm on arrays of numbers", baseline: baseline))
  }

  /// The whole program beside ninja, both of which only read the graph and order it.
  private static func beside(_ graph: StepGraph, _ report: BenchmarkReport) {
    guard let shop = Scratch("plan") else { return report.skip(Scratch.reason) }
    defer { shop.remove() }
    shop.write(graph.workflow, to: "graph.json")
    shop.write(graph.ninja, to: "build.ninja")
    var (weft, ninja): ([ProgramEnd], [ProgramEnd]) = ([], [])
    for _ in 0..<report.runs(9) {
      if let end = shop.end(of: [shop.weft, "check", "graph.json"]) { weft.append(end) }
      if let end = shop.end(of: ["ninja", "-n", "--quiet"]) { ninja.append(end) }
    }
    guard !weft.isEmpty, !ninja.isEmpty else { return report.skip("there is no ninja") }
    report.add(
      "`weft check` of \(graph.name)", weft, ("ms", .milliseconds(1)), beside: "ninja -n", ninja)
  }

  private static func reading(_ graph: LayeredGraph, _ report: BenchmarkReport) {
    let file = SourceFile(path: "graph.json", bytes: graph.json)
    let (measured, baseline) = milliseconds(
      report, { keep(WorkflowDecoder.decode(file).workflow.map { Planner.plan($0) }?.plan) },
      { keep(JSONReader.read(file).root) })
    report.add(
      BenchmarkRow(
        name: "read, check and plan \(graph.name)", measured: measured, unit: "ms",
        baselineName: "reading alone", baseline: baseline))
  }

  private static func checking(_ graph: ReferringGraph, _ report: BenchmarkReport) {
    let file = SourceFile(path: "graph.json", bytes: graph.json(withExpressions: true))
    let plain = SourceFile(path: "graph.json", bytes: graph.json(withExpressions: false))
    let plan = { (file: SourceFile) in
      keep(WorkflowDecoder.decode(file).workflow.map { Planner.plan($0) }?.plan)
    }
    let (measured, baseline) = milliseconds(report, { plan(file) }, { plan(plain) })
    report.add(
      BenchmarkRow(
        name: "read, check and plan \(graph.steps) steps with \(graph.expressionCount) expressions",
        measured: measured, unit: "ms",
        baselineName: "the same graph by `needs`, without expressions", baseline: baseline))
  }

  private static func printing(
    _ graph: LayeredGraph, as format: PlanFormat, _ report: BenchmarkReport
  ) {
    guard let plan = Planner.plan(graph.workflow).plan else { return }
    let text = plan.rendered(as: format)
    let (measured, baseline) = milliseconds(
      report, { keep(plan.rendered(as: format)) }, { keep(Array(text.map { $0 &+ 1 })) })
    report.add(
      BenchmarkRow(
        name: "\(graph.steps) steps, \(text.count / 1000) kB", measured: measured, unit: "ms",
        baselineName: "copying the bytes one by one", baseline: baseline))
  }

  /// Medians of the runs, taken in turns.
  private static func milliseconds(
    _ report: BenchmarkReport, _ measured: () -> Void, _ baseline: () -> Void
  ) -> (measured: Double, baseline: Double) {
    var times: (measured: [Double], baseline: [Double]) = ([], [])
    for _ in 0..<report.runs(9) {
      times.measured.append(ContinuousClock().measure(measured) / .milliseconds(1))
      times.baseline.append(ContinuousClock().measure(baseline) / .milliseconds(1))
    }
    return (times.measured.median, times.baseline.median)
  }
}

/// Steps in layers of a hundred; those after the first layer need some of the layer before.
private struct LayeredGraph {
  private static let width = 100

  let steps: Int
  let edges: Int

  var name: String { "\(steps) steps with \(edges) edges each" }

  private func needs(of step: Int) -> [Int] {
    let layer = step / LayeredGraph.width
    guard layer > 0 else { return [] }
    return (0..<edges).map { edge in
      (layer - 1) * LayeredGraph.width + (step * 7 + edge * 13) % LayeredGraph.width
    }
  }

  var workflow: Workflow {
    Workflow(
      parallel: (0..<steps).map { step in
        Step(
          StepID("step_\(step)")!, run: "make part-\(step)",
          needs: needs(of: step).map { Need("step_\($0)") })
      })
  }

  var json: [UInt8] {
    var writer = JSONWriter(capacity: steps * 160)
    writer.beginObject()
    writer.key("parallel")
    writer.beginArray()
    for step in 0..<steps {
      writer.beginObject()
      writer.member("id", "step_\(step)")
      writer.member("run", "make part-\(step)")
      writer.key("needs")
      writer.beginArray()
      for need in needs(of: step) { writer.string("step_\(need)") }
      writer.endArray()
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  /// The bare minimum: reverse edges, counters, and a list of ready steps, without any names.
  func sortedByCounting() -> [Int32] {
    let needs = (0..<steps).flatMap { self.needs(of: $0) }
    let first = min(LayeredGraph.width, steps)
    var starts = Array(repeating: Int32(0), count: steps + 1)
    for need in needs { starts[need + 1] += 1 }
    for step in 0..<steps { starts[step + 1] += starts[step] }
    var next = starts
    var dependents = Array(repeating: Int32(0), count: needs.count)
    for (index, need) in needs.enumerated() {
      dependents[Int(next[need])] = Int32(first + index / edges)
      next[need] += 1
    }
    var waits = (0..<steps).map { Int32($0 < first ? 0 : edges) }
    var order = (0..<first).map { Int32($0) }
    var done = 0
    while done < order.count {
      let step = Int(order[done])
      done += 1
      for dependent in dependents[Int(starts[step])..<Int(starts[step + 1])] {
        waits[Int(dependent)] -= 1
        if waits[Int(dependent)] == 0 { order.append(dependent) }
      }
    }
    return order
  }
}
