import CWeftBenchmarks
import WeftPlatform

/// Whole tools on whole graphs of `/bin/true`, two at a time: the built `weft`, a bare C loop that only starts
/// and waits, and those of ninja, make and xargs that are installed.
///
/// `weft` is the one beside this program: `swift build -c release` builds both.
enum RunBenchmarks {
  static let threads = 2

  static var all: [Benchmark] {
    let wide = StepGraph(name: "10,000 side by side", steps: 10_000, layers: 1, edges: 0)
    let graphs: [(name: String, graph: StepGraph)] = [
      ("run/wide", wide),
      (
        "run/scripts",
        StepGraph(name: "10,000 scripts", steps: 10_000, layers: 1, edges: 0, isScript: true)
      ),
      (
        "run/chain", StepGraph(name: "chain of 1,000", steps: 1_000, layers: 1_000, edges: 1)
      ),
      (
        "run/layers",
        StepGraph(
          name: "10,000 in 100 layers, 5 edges each", steps: 10_000, layers: 100, edges: 5)
      ),
    ]
    return graphs.map { name, graph in
      comparison(name) { $0.run(graph, $1) }
    } + [
      comparison("run/record") { $0.records(of: wide, $1) },
      comparison("run/start-up") { $0.startUp($1) },
    ]
  }

  private static func comparison(
    _ name: String, _ measure: @escaping (Comparison, BenchmarkReport) -> Void
  ) -> Benchmark {
    Benchmark(name) { report in
      guard let shop = Scratch("run") else { return report.skip(Scratch.reason) }
      defer { shop.remove() }
      measure(Comparison(shop: shop), report)
    }
  }
}

/// The tools, side by side.
private struct Comparison {
  let shop: Scratch

  func run(_ graph: StepGraph, _ report: BenchmarkReport) {
    shop.write(graph.workflow, to: "graph.json")
    shop.write(graph.ninja, to: "build.ninja")
    shop.write(graph.makefile, to: "Makefile")
    let jobs = "-j\(RunBenchmarks.threads)"
    var peers: [(name: String, arguments: [String])] = [
      ("ninja \(jobs)", ["sh", "-c", "rm -f .ninja_log; exec ninja \(jobs) --quiet"]),
      ("make \(jobs)", ["make", jobs, "-s"]),
    ]
    if graph.edges == 0 {
      let list = "seq \(graph.steps) | xargs -n1 -P\(RunBenchmarks.threads) /bin/true"
      peers.append(("xargs -P\(RunBenchmarks.threads)", ["sh", "-c", list]))
    }
    var times = Array(repeating: [Double](), count: peers.count + 2)
    for _ in 0..<report.runs(5) {
      let run = ["sh", "-c", "exec \"$1\" run \(jobs) graph.json >/dev/null", "sh", shop.weft]
      if let time = shop.seconds(run) { times[0].append(time) }
      times[1].append(bareLoop(graph))
      for (index, peer) in peers.enumerated() {
        if let time = shop.seconds(peer.arguments) { times[index + 2].append(time) }
      }
    }
    guard !times[0].isEmpty else { return }
    for (index, name) in (["bare C loop"] + peers.map(\.name)).enumerated()
    where !times[index + 1].isEmpty {
      report.add(
        BenchmarkRow(
          name: graph.name, measured: times[0].median, unit: "s", baselineName: name,
          baseline: times[index + 1].median))
    }
  }

  /// The cost of keeping a journal, by its durability.
  func records(of graph: StepGraph, _ report: BenchmarkReport) {
    shop.write(graph.workflow, to: "graph.json")
    let levels = ["none", "process", "power"]
    var times = Array(repeating: [Double](), count: levels.count)
    for _ in 0..<report.runs(5) {
      for (index, level) in levels.enumerated() {
        let script =
          "rm -rf .weft; exec \"$1\" run -j\(RunBenchmarks.threads) --record \(level) graph.json >/dev/null"
        let run = ["sh", "-c", script, "sh", shop.weft]
        if let time = shop.seconds(run) { times[index].append(time) }
      }
    }
    guard times.allSatisfy({ !$0.isEmpty }) else { return }
    for index in levels.indices.dropFirst() {
      report.add(
        BenchmarkRow(
          name: "\(graph.name), --record \(levels[index])", measured: times[index].median,
          unit: "s", baselineName: "--record none", baseline: times[0].median))
    }
  }

  func startUp(_ report: BenchmarkReport) {
    shop.write(#"{"steps":[{"run":["/bin/true"]}]}"#, to: "one.json")
    shop.write("rule t\n  command = /bin/true\nbuild all: t\n", to: "build.ninja")
    for (name, weft, ninja) in [
      ("weft version", [shop.weft, "version"], ["ninja", "--version"]),
      (
        "weft run of one /bin/true", [shop.weft, "run", "one.json"],
        ["sh", "-c", "rm -f .ninja_log; exec ninja --quiet"]
      ),
    ] {
      var times: (weft: [Double], ninja: [Double]) = ([], [])
      for _ in 0..<report.runs(21) {
        if let time = shop.seconds(weft) { times.weft.append(time * 1e3) }
        if let time = shop.seconds(ninja) { times.ninja.append(time * 1e3) }
      }
      guard !times.weft.isEmpty, !times.ninja.isEmpty else { continue }
      report.add(
        BenchmarkRow(
          name: name, measured: times.weft.median, unit: "ms",
          baselineName: ninja[0] == "sh"
            ? "ninja" : "ninja --version", baseline: times.ninja.median))
    }
  }

  /// As many programs, only started and waited for; a chain runs one at a time.
  private func bareLoop(_ graph: StepGraph) -> Double {
    let arguments = graph.isScript ? ["/bin/sh", "-c", "/bin/true"] : ["/bin/true"]
    let time = ContinuousClock().measure {
      let threads = min(RunBenchmarks.threads, graph.width)
      let done = withCStrings(arguments) { arguments in
        weft_bench_c_loop(Int32(graph.steps), Int32(threads), arguments, 1)
      }
      precondition(done == graph.steps, "the C loop ran \(done) of \(graph.steps)")
    }
    return time / .seconds(1)
  }
}
