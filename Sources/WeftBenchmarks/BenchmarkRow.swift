/// One line of the benchmark's table: a measurement, beside its baseline from the same run.
struct BenchmarkRow: Sendable {
  /// The measured operation, such as `futures: chain of 1,000,000`.
  var name: String
  /// Median of the runs, in `unit`.
  var measured: Double
  /// The unit, such as `ns/node`; smaller is better.
  var unit: String
  /// The operation that it is compared with.
  var baselineName: String
  /// Median of the baseline's runs, in `unit`.
  var baseline: Double

  /// The measurement as a multiple of the baseline.
  var ratio: Double { measured / baseline }
}

extension Array where Element: Comparable {
  /// The median, or the upper of two middle elements; the array must not be empty.
  var median: Element { sorted()[count / 2] }
}
