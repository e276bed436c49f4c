/// One line of the benchmark's table: what was measured, beside its counterpart from the same run.
struct BenchmarkRow: Sendable {
  /// What was done, such as `futures: chain of 1,000,000`.
  var name: String
  /// Median of the runs, in `unit`.
  var measured: Double
  /// Such as `ns/node`; smaller is better.
  var unit: String
  /// What it is compared with.
  var baselineName: String
  /// Median of the counterpart's runs, in `unit`.
  var baseline: Double

  /// How many times the baseline it took.
  var ratio: Double { measured / baseline }
}

extension Array where Element: Comparable {
  /// The middle one by size, or the upper of two; the array must not be empty.
  var median: Element { sorted()[count / 2] }
}
