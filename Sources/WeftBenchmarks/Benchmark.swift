import WeftJSON
import WeftPlatform

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A measurement that the command line selects by its name.
struct Benchmark {
  /// Such as `run/wide`; the command line names it by any beginning.
  let name: String
  /// Whether it only runs if its whole name is given: it is for tools that count instructions.
  var isForTools = false
  let measure: (BenchmarkReport) -> Void

  init(_ name: String, isForTools: Bool = false, _ measure: @escaping (BenchmarkReport) -> Void) {
    self.name = name
    self.isForTools = isForTools
    self.measure = measure
  }

  func isSelected(by names: [String]) -> Bool {
    isForTools ? names.contains(name) : names.isEmpty || names.contains(where: name.hasPrefix)
  }
}

/// One line of the table: a measurement, beside its baseline from the same run.
struct BenchmarkRow: Sendable {
  /// The measured operation, such as `chain of 1,000,000`.
  var name: String
  /// Median of the runs, in `unit`.
  var measured: Double
  /// The unit, such as `ns/node`; smaller is better.
  var unit: String
  /// The operation that it is compared with; `–` if there is none.
  var baselineName: String
  /// Median of the baseline's runs, in `unit`.
  var baseline: Double

  /// The measurement as a multiple of the baseline.
  var ratio: Double { measured / baseline }
}

/// The rows of one run of this program, printed as they are measured, and compared with those of an earlier run.
final class BenchmarkReport {
  private struct Key: Hashable {
    var benchmark: String
    var row: String
    var unit: String
    var baseline: String
  }

  /// The change from which on a row counts as slower or faster.
  static let tolerance = 0.1

  private let options: BenchmarkOptions
  /// The ratios of the earlier run; the measurements of rows without a baseline.
  private let earlier: [Key: Double]
  private var benchmark = ""
  /// The rows that are slower than in the earlier run.
  private(set) var slower = 0

  init(_ options: BenchmarkOptions, earlier lines: [JSONNode]) {
    self.options = options
    earlier = lines.reduce(into: [:]) { earlier, line in
      guard let benchmark = line.member("benchmark")?.stringValue,
        let row = line.member("case")?.stringValue, let unit = line.member("unit")?.stringValue,
        let baseline = line.member("beside")?.stringValue,
        let value = (line.member("ratio") ?? line.member("measured"))?.numberValue?.asDouble
      else { return }
      earlier[Key(benchmark: benchmark, row: row, unit: unit, baseline: baseline)] = value
    }
    guard !options.writesJSON else { return }
    let more = earlier.isEmpty ? ("", "") : (" change |", "---:|")
    BenchmarkReport.write(
      "| benchmark | case | Weft | unit | beside | that | ratio |\(more.0)\n"
        + "|---|---|---:|---|---|---:|---:|\(more.1)")
  }

  /// The number of runs, of which a row is the median.
  func runs(_ usual: Int) -> Int { options.runs ?? usual }

  func measure(_ benchmark: Benchmark) {
    self.benchmark = benchmark.name
    benchmark.measure(self)
  }

  func add(_ row: BenchmarkRow) {
    options.writesJSON ? writeJSON(row) : writeText(row)
  }

  /// Reports a benchmark that cannot be measured here.
  func skip(_ reason: String) {
    guard options.writesJSON else {
      return BenchmarkReport.write("| \(benchmark) | not measured: \(reason) | | | | | |")
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("benchmark", benchmark)
    writer.member("notMeasured", reason)
    writer.endObject()
    BenchmarkReport.write(writer.text)
  }

  /// Writes a line at once, also to a pipe.
  static func write(_ line: String) {
    print(line)
    fflush(nil)
  }

  private func writeJSON(_ row: BenchmarkRow) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("benchmark", benchmark)
    writer.member("case", row.name)
    writer.member("unit", row.unit)
    writer.key("measured")
    writer.double(row.measured)
    writer.member("beside", row.baselineName)
    for (key, value) in [("baseline", row.baseline), ("ratio", row.ratio)] where value.isFinite {
      writer.key(key)
      writer.double(value)
    }
    writer.endObject()
    BenchmarkReport.write(writer.text)
    _ = change(of: row)
  }

  private func writeText(_ row: BenchmarkRow) {
    let figures = [row.measured, row.baseline, row.ratio].map(BenchmarkReport.figure)
    BenchmarkReport.write(
      "| \(benchmark) | \(row.name) | \(figures[0]) | \(row.unit) | \(row.baselineName) | \(figures[1]) "
        + "| \(figures[2]) |" + (earlier.isEmpty ? "" : " \(change(of: row)) |"))
  }

  /// The change since the earlier run, in percent; counts the row if it is slower.
  private func change(of row: BenchmarkRow) -> String {
    let key = Key(
      benchmark: benchmark, row: row.name, unit: row.unit, baseline: row.baselineName)
    guard let before = earlier[key], before > 0 else { return "new" }
    let change = (row.ratio.isFinite ? row.ratio : row.measured) / before - 1
    if change > BenchmarkReport.tolerance { slower += 1 }
    let percent = Int((change * 100).rounded())
    return percent > 0 ? "+\(percent) %" : "\(percent) %"
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

extension BenchmarkReport {
  /// The median time of the runs in seconds, after one run that is not counted.
  func seconds(runs usual: Int = 9, _ work: () -> Void) -> Double {
    work()
    return (0..<runs(usual)).map { _ in ContinuousClock().measure(work) / .seconds(1) }.median
  }
}

extension BenchmarkReport {
  /// Adds the medians of whole programs: elapsed time, in this unit, and memory.
  func add(
    _ name: String, _ measured: [ProgramEnd], _ unit: (name: String, length: Duration),
    beside baselineName: String, _ baseline: [ProgramEnd]
  ) {
    func add(_ figure: String, _ unit: String, _ value: (ProgramEnd) -> Double) {
      self.add(
        BenchmarkRow(
          name: "\(name), \(figure)", measured: measured.map(value).median, unit: unit,
          baselineName: baselineName, baseline: baseline.map(value).median))
    }
    add("elapsed", unit.name) { $0.duration / unit.length }
    // The kernel counts this process's own memory for a program that it starts.
    guard (measured + baseline).allSatisfy({ $0.usage.peakBeyondThisProcess != nil }) else {
      return
    }
    add("resident at most", "MB") { Double($0.usage.peakResidentBytes) / 1e6 }
  }
}

/// Keeps the optimizer from removing a value that is not used.
@inline(never) @_optimize(none)
func keep<Value>(_ value: Value) {}

extension Array where Element: Comparable {
  /// The median, or the upper of two middle elements; the array must not be empty.
  var median: Element { sorted()[count / 2] }
}
