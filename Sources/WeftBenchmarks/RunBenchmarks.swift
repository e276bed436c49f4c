import CWeftBenchmarks
import WeftPlatform

/// Whole tools on whole graphs of `/bin/true`, two at a time: the built `weft`, a bare C loop that
/// only starts and waits, and what is installed of ninja, make and xargs.
///
/// `weft` is the one beside this program: `swift build -c release` builds both.
enum RunBenchmarks {
  static let threads = 2
  private static let runCount = 5

  static func rows() -> [BenchmarkRow] {
    guard let contest = Contest() else {
      print("run: there is no `weft` beside this program; build it with swift build -c release")
      return []
    }
    return [
      Graph(name: "10,000 side by side", steps: 10_000, layers: 1, edges: 0),
      Graph(name: "chain of 1,000", steps: 1_000, layers: 1_000, edges: 1),
      Graph(name: "10,000 in 100 layers, 5 edges each", steps: 10_000, layers: 100, edges: 5),
    ].flatMap { contest.rows(for: $0, runs: runCount) } + contest.startUp(runs: 21)
  }
}

/// Steps in layers, each waiting for some of the layer before.
struct Graph {
  let name: String
  let steps: Int
  let layers: Int
  let edges: Int

  var width: Int { steps / layers }

  /// What a step waits for.
  func needs(of step: Int) -> [Int] {
    let layer = step / width
    guard layer > 0 else { return [] }
    return (0..<min(edges, width)).map { edge in
      (layer - 1) * width + (step + edge * 7) % width
    }.sorted()
  }

  /// A workflow: a list of steps where that says it, else a graph by needs.
  var workflow: String {
    if width == 1 { return #"{"steps":["# + list { _ in "" } + "]}" }
    return #"{"parallel":["#
      + list { step in
        let needs = needs(of: step).map { "\"s\($0)\"" }.joined(separator: ",")
        return needs.isEmpty ? "" : #","needs":["# + needs + "]"
      } + "]}"
  }

  private func list(_ needs: (Int) -> String) -> String {
    (0..<steps).map { #"{"id":"s\#($0)","run":["/bin/true"]\#(needs($0))}"# }
      .joined(separator: ",\n")
  }

  var ninja: String {
    "rule t\n  command = /bin/true\n"
      + (0..<steps).map { step in
        let needs = needs(of: step).map { " s\($0)" }.joined()
        return "build s\(step): t\(needs)\n"
      }.joined()
  }

  var makefile: String {
    let names = (0..<steps).map { "s\($0)" }.joined(separator: " ")
    return "all: \(names)\n.PHONY: all \(names)\n"
      + (0..<steps).map { step in
        "s\(step):" + needs(of: step).map { " s\($0)" }.joined() + "\n\t@/bin/true\n"
      }.joined()
  }
}

/// The tools, in a temporary folder.
private struct Contest {
  private let weft: String
  private let folder: String
  private let environment = EnvironmentBlock.inherited()

  init?() {
    guard let own = try? FileSystem.executablePath(), let slash = own.lastIndex(of: "/") else {
      return nil
    }
    weft = own[..<slash] + "/weft"
    folder = FileSystem.temporaryDirectory + "/weft-benchmark-\(ThisProcess.id)"
    guard (try? FileSystem.makeDirectories(folder)) != nil, seconds([weft, "version"]) != nil else {
      return nil
    }
  }

  func rows(for graph: Graph, runs: Int) -> [BenchmarkRow] {
    write(graph.workflow, to: "graph.json")
    write(graph.ninja, to: "build.ninja")
    write(graph.makefile, to: "Makefile")
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
    for _ in 0..<runs {
      let run = ["sh", "-c", "exec \"$1\" run \(jobs) graph.json >/dev/null", "sh", weft]
      if let time = seconds(run) { times[0].append(time) }
      times[1].append(bareLoop(graph))
      for (index, peer) in peers.enumerated() {
        if let time = seconds(peer.arguments) { times[index + 2].append(time) }
      }
    }
    guard !times[0].isEmpty else { return [] }
    let names = ["bare C loop"] + peers.map(\.name)
    return names.indices.compactMap { index in
      guard !times[index + 1].isEmpty else { return nil }
      return BenchmarkRow(
        name: "run: \(graph.name)", measured: times[0].median, unit: "s",
        baselineName: names[index], baseline: times[index + 1].median)
    }
  }

  func startUp(runs: Int) -> [BenchmarkRow] {
    var times: (weft: [Double], ninja: [Double]) = ([], [])
    for _ in 0..<runs {
      if let time = seconds([weft, "version"]) { times.weft.append(time * 1e3) }
      if let time = seconds(["ninja", "--version"]) { times.ninja.append(time * 1e3) }
    }
    guard !times.ninja.isEmpty else { return [] }
    return [
      BenchmarkRow(
        name: "start-up: weft version", measured: times.weft.median, unit: "ms",
        baselineName: "ninja --version", baseline: times.ninja.median)
    ]
  }

  /// The same number of programs with nothing around them; a chain has one at a time.
  private func bareLoop(_ graph: Graph) -> Double {
    let program = Array("/bin/true\0".utf8CString)
    let time = ContinuousClock().measure {
      program.withUnsafeBufferPointer { program in
        let arguments = [UnsafeMutablePointer(mutating: program.baseAddress), nil]
        let threads = min(RunBenchmarks.threads, graph.width)
        let done = weft_bench_c_loop(Int32(graph.steps), Int32(threads), arguments, 1)
        precondition(done == graph.steps, "the C loop ran \(done) of \(graph.steps)")
      }
    }
    return time / .seconds(1)
  }

  /// How long a command takes in the folder, its output thrown away; `nil` if it cannot be run or fails.
  private func seconds(_ arguments: [String]) -> Double? {
    let program = ChildProgram(arguments, environment: environment, directory: folder)
    let start = MonotonicClock.now
    guard let end = try? program.run(stop: StopSwitch(), output: { _, _ in }),
      end.exited(with: 0)
    else { return nil }
    return (MonotonicClock.now - start) / .seconds(1)
  }

  private func write(_ text: String, to name: String) {
    let script = "cat >\"$1\""
    var program = ChildProgram(
      ["sh", "-c", script, "sh", name], environment: environment, directory: folder)
    program.input = .bytes(Array(text.utf8))
    _ = try? program.run(stop: StopSwitch(), output: { _, _ in })
  }
}
