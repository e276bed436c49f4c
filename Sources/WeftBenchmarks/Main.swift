import WeftPlatform

/// Measures Weft beside bare loops and other tools, in the same run:
/// `swift run -c release WeftBenchmarks [elements-once] [engine] [engine-once] [expressions] [futures] [http] [json]
/// [plan] [programs] [record] [run] [secrets] [streams]`; without names, all of them.
///
/// Every figure is the median of several runs, taken in turns with its baseline. On a machine with other load,
/// only the ratios are meaningful.
@main
enum Main {
  private enum Suite: String, CaseIterable {
    case engine
    case engineOnce = "engine-once"
    case elementsOnce = "elements-once"
    case expressions, futures, http, json, plan, programs, record, run, secrets, streams

    func report(to table: Table) {
      switch self {
      case .engine: EngineBenchmarks.run(report: table.add)
      case .engineOnce: EngineBenchmarks.runOnce(report: table.add)
      case .elementsOnce: EngineBenchmarks.runElementsOnce(report: table.add)
      case .expressions: ExpressionBenchmarks.rows().forEach(table.add)
      case .futures: FuturesBenchmarks.run(report: table.add)
      case .http: HTTPBenchmarks.run(report: table.add)
      case .json: JSONBenchmarks.rows().forEach(table.add)
      case .plan: PlanBenchmarks.rows().forEach(table.add)
      case .programs: ProgramBenchmarks.run(report: table.add)
      case .record: RecordBenchmarks.rows().forEach(table.add)
      case .run: RunBenchmarks.rows().forEach(table.add)
      case .secrets: SecretBenchmarks.rows().forEach(table.add)
      case .streams: StreamBenchmarks.rows().forEach(table.add)
      }
    }
  }

  static func main() {
    let names = CommandLine.arguments.dropFirst()
    if let unknown = names.first(where: { Suite(rawValue: $0) == nil }) {
      print("no benchmark is called \"\(unknown)\"; there are \(Suite.allCases.map(\.rawValue))")
      return
    }
    print("\(ThisProcess.processorCount) processors; medians; smaller is better")
    for suite in Suite.allCases where names.isEmpty || names.contains(suite.rawValue) {
      suite.report(to: Table())
    }
  }
}

/// Prints rows as they are added.
struct Table {
  init() {
    print("\n| case | Weft | unit | beside | that | ratio |\n|---|---:|---|---|---:|---:|")
  }

  func add(_ row: BenchmarkRow) {
    let figures = [row.measured, row.baseline, row.ratio].map(Table.figure)
    print(
      "| \(row.name) | \(figures[0]) | \(row.unit) | \(row.baselineName) | \(figures[1]) "
        + "| \(figures[2]) |")
  }

  /// The value with three significant digits.
  private static func figure(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    let decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2
    let scale = decimals == 0 ? 1.0 : decimals == 1 ? 10 : 100
    let scaled = Int((value * scale).rounded())
    guard decimals > 0 else { return String(scaled) }
    let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int(scale))
    let digits = String(rest)
    return "\(whole)." + String(repeating: "0", count: decimals - digits.count) + digits
  }
}
