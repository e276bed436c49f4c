import CWeftBenchmarks
import WeftFutures

/// Futures beside a minimal implementation: arrays of counters, and a list of ready nodes.
///
/// A sample consists of building a graph, settling its roots, and releasing it, on one thread. The bytes are
/// those in use after building, before anything has settled.
enum FuturesBenchmarks {
  static let nodeCount = 1_000_000

  static var all: [Benchmark] {
    [
      Benchmark("futures/map") {
        compare(
          "chain", .chain(of: nodeCount), { chain(of: nodeCount) { $0.map { $0 + 1 } } }, $0)
      },
      Benchmark("futures/flatMap") {
        compare(
          "flatMap chain", .chain(of: nodeCount),
          { chain(of: nodeCount) { $0.flatMap { Future(value: $0 + 1) } } }, $0)
      },
      Benchmark("futures/zip") {
        compare("zip", .fan(in: nodeCount), { zip(of: nodeCount) }, $0)
      },
      Benchmark("futures/random") {
        let random = DependencyGraph.random(of: nodeCount, seed: 1)
        compare("random graph", random, { graph(random) }, $0)
      },
    ]
  }

  private static func compare(
    _ name: String, _ graph: DependencyGraph, _ futures: () -> FutureSample,
    _ report: BenchmarkReport
  ) {
    var measured: [FutureSample] = []
    var baseline: [FutureSample] = []
    for _ in 0..<report.runs(5) {
      measured.append(futures())
      baseline.append(graph.settledByCounting())
    }
    for (unit, value) in FutureSample.columns {
      report.add(
        BenchmarkRow(
          name: "\(name) of \(nodeCount)", measured: measured.map(value).median,
          unit: unit,
          baselineName: "arrays with atomic counters", baseline: baseline.map(value).median))
    }
  }
}

/// The time and memory that one run of a graph took, per node.
struct FutureSample {
  var nanoseconds: Double
  var bytes: Double

  static let columns: [(unit: String, value: @Sendable (FutureSample) -> Double)] = [
    ("ns/node", { $0.nanoseconds }), ("bytes/node", { $0.bytes }),
  ]

  /// Times `build` and `finish`, and measures the allocated memory between the two.
  ///
  /// `finish` settles everything and releases it.
  static func measure<Graph>(
    nodes: Int, build: () -> Graph, finish: (consuming Graph) -> Void
  ) -> FutureSample {
    let clock = ContinuousClock()
    let before = weft_allocated_bytes()
    let start = clock.now
    let graph = build()
    let building = clock.now - start
    let bytes = weft_allocated_bytes() - before
    let settlingStart = clock.now
    finish(graph)
    let settling = clock.now - settlingStart
    return FutureSample(
      nanoseconds: (building + settling) / .nanoseconds(1) / Double(nodes),
      bytes: Double(bytes) / Double(nodes))
  }
}

extension FuturesBenchmarks {
  private typealias Whole = Promise<Int, Never>

  private static func chain(
    of count: Int, link: (Future<Int, Never>) -> Future<Int, Never>
  ) -> FutureSample {
    .measure(nodes: count) {
      let promise = Whole(ifDropped: .success(0))
      var tail = promise.future
      for _ in 0..<count { tail = link(tail) }
      return (promise, tail)
    } finish: { promise, tail in
      promise.succeed(0)
      precondition(tail.outcome == .success(count))
    }
  }

  private static func zip(of count: Int) -> FutureSample {
    .measure(nodes: count) {
      let promises = (0..<count).map { Whole(ifDropped: .success($0)) }
      return (promises, Future.zip(promises.map { $0.future }))
    } finish: { promises, all in
      for (value, promise) in promises.enumerated() { promise.succeed(value) }
      precondition(all.isSettled)
    }
  }

  private static func graph(_ graph: DependencyGraph) -> FutureSample {
    .measure(nodes: graph.count) {
      let promise = Whole(ifDropped: .success(0))
      var nodes: [Future<Int, Never>] = []
      nodes.reserveCapacity(graph.count)
      for node in 0..<graph.count {
        let needed = graph.needs(of: node).map { nodes[Int($0)] }
        nodes.append(
          needed.isEmpty
            ? promise.future.map { $0 + 1 } : Future.zip(needed).map { $0.reduce(1, &+) })
      }
      return (promise, nodes)
    } finish: { promise, nodes in
      promise.succeed(0)
      precondition(nodes.allSatisfy { $0.isSettled })
    }
  }
}
