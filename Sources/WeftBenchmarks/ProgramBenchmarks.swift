import CWeftBenchmarks
import WeftPlatform

/// Starting programs without a workflow, beside other ways of starting the same programs.
enum ProgramBenchmarks {
  static let threads = 2

  static var all: [Benchmark] {
    [("programs/start", starting), ("programs/memory", memory)].map { name, measure in
      Benchmark(name) { report in
        guard let program = NoopProgram() else {
          return report.skip("no static program could be made with cc")
        }
        measure(program, report)
      }
    } + [
      Benchmark("programs/read", reading), Benchmark("programs/many", ManyProcesses.measure),
    ]
  }

  /// Starting, reading to the end and reaping a program that does nothing.
  private static func starting(_ program: NoopProgram, _ report: BenchmarkReport) {
    let count = 3_000
    var (weft, loop, foundation): (Figures, Figures, Figures) = ([], [], [])
    for _ in 0..<report.runs(7) {
      weft.append(.of(count) { ProgramPair.run(program.path, times: count) })
      loop.append(.of(count) { bareLoop([program.path], times: count) })
      foundation.append(.of(500) { FoundationBaseline.run(program.path, times: 500) })
    }
    func add(_ name: String, _ baseline: String, _ those: Figures, _ value: (Figure) -> Double) {
      report.add(
        BenchmarkRow(
          name: name, measured: weft.map(value).median, unit: "µs/program",
          baselineName: baseline, baseline: those.map(value).median))
    }
    let all = "a static no-op, captured, 2 at a time"
    add(all, "C loop, a thread a slot", loop, \.elapsed)
    add(all, "Foundation.Process", foundation, \.elapsed)
    add("own processor time", "C loop, a thread a slot", loop, \.processor)
    add("own processor time", "Foundation.Process", foundation, \.processor)
  }

  /// Resident memory after many programs, beside that after few.
  private static func memory(_ program: NoopProgram, _ report: BenchmarkReport) {
    ProgramPair.run(program.path, times: 1_000)
    let few = residentBytes()
    ProgramPair.run(program.path, times: 19_000)
    report.add(
      BenchmarkRow(
        name: "resident after 20,000", measured: residentBytes() / 1e6, unit: "MB",
        baselineName: "after 1,000", baseline: few / 1e6))
  }

  /// One gigabyte through a pipe.
  private static func reading(_ report: BenchmarkReport) {
    let source = ["/usr/bin/head", "-c", "1G", "/dev/zero"]
    var times: (weft: [Double], loop: [Double]) = ([], [])
    for _ in 0..<report.runs(7) {
      times.weft.append(
        Figure.of(1) {
          let program = ChildProgram(source, environment: .inherited())
          _ = try? program.run(stop: StopSwitch(), output: { _, _ in })
        }.elapsed / 1e6)
      times.loop.append(Figure.of(1) { bareLoop(source, times: 1) }.elapsed / 1e6)
    }
    report.add(
      BenchmarkRow(
        name: "1 GiB of output", measured: times.weft.median, unit: "s",
        baselineName: "C loop, 64 KiB at a time", baseline: times.loop.median))
  }

  private static func bareLoop(_ arguments: [String], times: Int) {
    let done = withCStrings(arguments) { arguments in
      weft_bench_c_loop(Int32(times), Int32(min(threads, times)), arguments, 1)
    }
    precondition(done == times, "the C loop ran \(done) of \(times)")
  }
}

/// The average times of programs that ran together.
struct Figure {
  /// In microseconds, from the first start to the last end.
  var elapsed: Double
  /// The processor time of this process in microseconds, without that of its children.
  var processor: Double

  static func of(_ count: Int, _ body: () -> Void) -> Figure {
    let before = ProgramUsage.ofThisProcess()
    let elapsed = ContinuousClock().measure(body)
    let after = ProgramUsage.ofThisProcess()
    let own = after.user + after.system - before.user - before.system
    return Figure(
      elapsed: elapsed / .microseconds(1) / Double(count),
      processor: own / .microseconds(1) / Double(count))
  }
}

typealias Figures = [Figure]

/// One program run repeatedly on two threads, as the engine runs it in two slots.
enum ProgramPair {
  private static let pool = ThreadPool()

  static func run(_ path: String, times: Int) {
    let program = ChildProgram([path], environment: .inherited())
    let finished = Latch(ProgramBenchmarks.threads)
    for _ in 0..<ProgramBenchmarks.threads {
      let job: ThreadPool.Job = {
        for _ in 0..<(times / ProgramBenchmarks.threads) {
          let end = try? program.run(stop: StopSwitch(), output: { _, _ in })
          precondition(end?.exited(with: 0) == true, "the program failed")
        }
        finished.arrive()
      }
      do { try pool.submit(job) } catch { fatalError("\(error)") }
    }
    finished.wait()
  }
}
