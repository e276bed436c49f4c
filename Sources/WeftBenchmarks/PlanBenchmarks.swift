import WeftDefinition
import WeftDiagnostics
import WeftJSON
import WeftPlanning

/// Planning and printing layered graphs, each step with five edges into the layer before.
enum PlanBenchmarks {
  static func rows() -> [BenchmarkRow] {
    [10_000, 100_000].flatMap { planning(LayeredGraph(steps: $0, edges: 5)) }
      + [reading(LayeredGraph(steps: 100_000, edges: 5))]
      + [reading(LayeredGraph(steps: 100_000, edges: 10))]
      + [checking(ReferringGraph(steps: 100_000))]
      + printing(LayeredGraph(steps: 100_000, edges: 5))
  }

  private static func planning(_ graph: LayeredGraph) -> [BenchmarkRow] {
    let workflow = graph.workflow
    let (measured, baseline) = milliseconds(
      { keep(Planner.plan(workflow).plan) }, { keep(graph.sortedByCounting()) })
    return [
      BenchmarkRow(
        name: "plan: \(graph.name)", measured: measured, unit: "ms",
        baselineName: "Kahn's algorithm on arrays of numbers", baseline: baseline)
    ]
  }

  private static func reading(_ graph: LayeredGraph) -> BenchmarkRow {
    let file = SourceFile(path: "graph.json", bytes: graph.json)
    let (measured, baseline) = milliseconds(
      { keep(WorkflowDecoder.decode(file).workflow.map { Planner.plan($0) }?.plan) },
      { keep(JSONReader.read(file).root) })
    return BenchmarkRow(
      name: "plan: read, check and plan \(graph.name)", measured: measured, unit: "ms",
      baselineName: "reading alone", baseline: baseline)
  }

  private static func checking(_ graph: ReferringGraph) -> BenchmarkRow {
    let file = SourceFile(path: "graph.json", bytes: graph.json(withExpressions: true))
    let plain = SourceFile(path: "graph.json", bytes: graph.json(withExpressions: false))
    let plan = { (file: SourceFile) in
      keep(WorkflowDecoder.decode(file).workflow.map { Planner.plan($0) }?.plan)
    }
    let (measured, baseline) = milliseconds({ plan(file) }, { plan(plain) })
    return BenchmarkRow(
      name:
        "plan: read, check and plan \(graph.steps) steps with \(graph.expressionCount) expressions",
      measured: measured, unit: "ms",
      baselineName: "the same graph by `needs`, without expressions", baseline: baseline)
  }

  private static func printing(_ graph: LayeredGraph) -> [BenchmarkRow] {
    guard let plan = Planner.plan(graph.workflow).plan else { return [] }
    return PlanFormat.allCases.map { format in
      let text = plan.rendered(as: format)
      let (measured, baseline) = milliseconds(
        { keep(plan.rendered(as: format)) }, { keep(Array(text.map { $0 &+ 1 })) })
      let name = "plan: \(graph.steps) steps as \(format.rawValue), \(text.count / 1000) kB"
      return BenchmarkRow(
        name: name, measured: measured, unit: "ms",
        baselineName: "copying the bytes one by one", baseline: baseline)
    }
  }

  /// Medians of nine runs each, taken in turns.
  private static func milliseconds(
    _ measured: () -> Void, _ baseline: () -> Void
  ) -> (measured: Double, baseline: Double) {
    var times: (measured: [Double], baseline: [Double]) = ([], [])
    for _ in 0..<9 {
      times.measured.append(ContinuousClock().measure(measured) / .milliseconds(1))
      times.baseline.append(ContinuousClock().measure(baseline) / .milliseconds(1))
    }
    return (times.measured.sorted()[4], times.baseline.sorted()[4])
  }

  /// Keeps the optimizer from removing a value that is not used.
  @inline(never) @_optimize(none)
  private static func keep<Value>(_ value: Value) {}
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
