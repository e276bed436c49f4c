import WeftDiagnostics
import WeftJSON
import WeftPlatform

/// Measures Weft beside bare loops and other tools, in the same run.
///
/// Every figure is the median of several runs, taken in turns with its baseline. On a machine with other load, only the
/// ratios are meaningful.
@main
enum Main {
  static var benchmarks: [Benchmark] {
    PlanBenchmarks.all + EngineBenchmarks.all + ExpressionBenchmarks.all + FuturesBenchmarks.all
      + HTTPBenchmarks.all + JSONBenchmarks.all + ProgramBenchmarks.all + RecordBenchmarks.all
      + RunBenchmarks.all + SecretBenchmarks.all + StreamBenchmarks.all
  }

  static func main() {
    do throws(BenchmarkOptions.Error) {
      let options = try BenchmarkOptions(CommandLine.arguments.dropFirst())
      if options.lists {
        for benchmark in benchmarks { BenchmarkReport.write(benchmark.name) }
        return
      }
      let selected = benchmarks.filter { $0.isSelected(by: options.names) }
      for name in options.names where !benchmarks.contains(where: { $0.name.hasPrefix(name) }) {
        throw .init("no benchmark is called \"\(name)\"; --list lists them")
      }
      let report = BenchmarkReport(options, earlier: try options.earlierLines())
      for benchmark in selected { report.measure(benchmark) }
      if report.slower > 0 { ThisProcess.exit(1) }
    } catch {
      BenchmarkReport.write(error.message)
      ThisProcess.exit(2)
    }
  }
}

/// The command line of this program.
struct BenchmarkOptions {
  struct Error: Swift.Error {
    let message: String

    init(_ message: String) { self.message = message }
  }

  private static let usage = """
    usage: WeftBenchmarks [NAME…] [--runs N] [--json] [--against FILE] [--list]

    NAME            only the benchmarks whose names begin with it, such as run or run/wide
    --runs N        the number of runs of which a figure is the median
    --json          a line of JSON for each figure instead of a table
    --against FILE  compare with the output of --json in FILE; exit 1 if a ratio is over 10 % larger
    --list          list the benchmarks; those that end in -once run only if named in full
    """

  private(set) var names: [String] = []
  private(set) var runs: Int?
  private(set) var writesJSON = false
  private(set) var lists = false
  private var earlier: String?

  init(_ arguments: some Sequence<String>) throws(Error) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--runs":
        guard let count = rest.popFirst().flatMap({ Int($0) }), count > 0 else {
          throw Error("--runs needs a number")
        }
        runs = count
      case "--against":
        guard let path = rest.popFirst() else { throw Error("--against needs a file") }
        earlier = path
      case "--json": writesJSON = true
      case "--list": lists = true
      case _ where argument.hasPrefix("-"): throw Error(BenchmarkOptions.usage)
      default: names.append(argument)
      }
    }
  }

  func earlierLines() throws(Error) -> [JSONNode] {
    guard let earlier else { return [] }
    let bytes: [UInt8]
    do { bytes = try FileReading.bytes(of: earlier) } catch {
      throw Error("cannot read \(earlier): \(error)")
    }
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap {
      JSONReader.read(SourceFile(path: earlier, bytes: Array($0))).root
    }
  }
}
