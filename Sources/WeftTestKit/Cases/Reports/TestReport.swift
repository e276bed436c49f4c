package import WeftDiagnostics
package import WeftPlatform
import WeftReporting

/// The results of test files, in the order in which they were run.
package struct TestReport: Sendable {
  /// A file whose cases were not run, and why not.
  package struct Rejection: Sendable {
    package let path: String
    package let diagnostics: [Diagnostic]

    package init(path: String, diagnostics: [Diagnostic]) {
      self.path = path
      self.diagnostics = diagnostics
    }

    /// A file that cannot be read.
    package init(path: String, because error: FileReadError) {
      let problem = Diagnostic(
        .error, code: CaseCode.noWorkflow,
        message: "the test file \(quoted(path)) \(error.message)",
        place: nil)
      self.init(path: path, diagnostics: [problem])
    }
  }

  package let files: [TestFileResult]
  package let rejected: [Rejection]

  package init(_ files: [TestFileResult], rejected: [Rejection] = []) {
    self.files = files
    self.rejected = rejected
  }

  package var passedCount: Int { files.joinedCases.count(where: \.passed) }
  package var failedCount: Int { files.joinedCases.count - passedCount }

  /// The most goals that are listed as not reached, for one file.
  private static let mostMissing = 20

  /// The text of one file: each case, its differences, and the parts of the workflow that no case reached.
  ///
  /// - Parameter diagnostics: Shows the differences.
  package static func text(
    of file: TestFileResult, showing diagnostics: ([Diagnostic]) -> String
  ) -> String {
    var text = "\(file.path)\n"
    for result in file.cases {
      let time = "in \(shown(result.virtualTime.inMilliseconds)) of virtual time"
      let orders = result.orders > 1 ? ", \(result.orders) orders" : ""
      if result.passed {
        text += "  ok      \(result.name)  \(time)\(orders)\n"
      } else {
        text += "  FAILED  \(result.name)\(seedHint(of: result))\n"
        text += diagnostics(result.mismatches)
      }
    }
    return text + (file.coverage.map(coverage) ?? "")
  }

  /// The remark on how to repeat a failure that depends on the order.
  private static func seedHint(of result: CaseResult) -> String {
    guard let seed = result.failingSeed, seed > 0 else { return "" }
    return "  order \(result.orders); repeat it with --seed \(seed)"
  }

  private static func coverage(_ coverage: Coverage) -> String {
    let parts = [
      (coverage.counts(of: .step), "steps"),
      (coverage.counts(of: .conditionTrue, .conditionFalse), "ways of conditions"),
      (coverage.counts(of: .retry, .exhausted), "ends of retries"),
      (coverage.counts(of: .tolerated), "tolerated failures"),
    ]
    let counts = parts.filter { $0.0.all > 0 }.map { "\($0.0.reached) of \($0.0.all) \($0.1)" }
    guard !counts.isEmpty else { return "" }
    var text = "  reached \(counts.joined(separator: ", "))\n"
    let missing = coverage.missing
    for goal in missing.prefix(mostMissing) {
      text += "    \(goal.address): \(goal.missing)\n"
    }
    if missing.count > mostMissing { text += "    … and \(missing.count - mostMissing) more\n" }
    return text
  }

  /// The last line, which counts cases.
  package var summary: String {
    var parts = ["\(passedCount) passed"]
    if failedCount > 0 { parts.append("\(failedCount) failed") }
    if !rejected.isEmpty { parts.append("\(Count(rejected.count, "file")) rejected") }
    return "\(Count(passedCount + failedCount, "case")): \(parts.joined(separator: ", "))\n"
  }
}

extension Duration {
  /// The duration, rounded down to whole milliseconds.
  fileprivate var inMilliseconds: Duration {
    .milliseconds(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
  }
}

extension [TestFileResult] {
  var joinedCases: [CaseResult] { flatMap(\.cases) }
}
