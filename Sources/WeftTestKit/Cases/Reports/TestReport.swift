package import WeftDiagnostics
import WeftPlanning
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

  /// The text of one file: each case, its differences, and the parts of the workflow that no case reached.
  ///
  /// - Parameter diagnostics: Shows the differences.
  package static func text(
    of file: TestFileResult, showing diagnostics: ([Diagnostic]) -> String
  ) -> String {
    var text = "\(TerminalText.harmless(file.path))\n"
    for result in file.cases {
      let name = TerminalText.harmless(result.name)
      let time = "in \(shown(result.virtualTime.inMilliseconds)) of virtual time"
      let counts = [
        result.orders > 1 ? ", \(result.orders) orders" : "",
        result.points > result.orders ? ", \(result.points) interruptions" : "",
      ]
      if result.passed {
        text += "  ok      \(name)  \(time)\(counts.joined())\n"
      } else {
        text += "  FAILED  \(name)\(seedHint(of: result))\n"
        text += diagnostics(result.mismatches)
      }
    }
    return text + (file.coverage.map(coverage) ?? "")
  }

  /// The remark on how to repeat a failure that depends on the order, or on the record.
  private static func seedHint(of result: CaseResult) -> String {
    let point =
      result.failingPoint.map { "  interrupted at record \($0): \"atRecord\": \($0)" } ?? ""
    guard let seed = result.failingSeed, seed > 0 else { return point }
    return "\(point)  order \(result.orders); repeat it with --seed \(seed)"
  }

  /// The parts of the workflow that no case reached: a line for each kind, cut where it gets long.
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
    let causes = Dictionary(grouping: coverage.causes, by: \.kind)
    for kind in Coverage.Goal.Kind.allCases {
      guard let goals = causes[kind] else { continue }
      let names = (kind == .step ? coverage.idle : goals.map(\.address)).map(\.text)
      let more = names.count > mostNames ? " and \(names.count - mostNames) more" : ""
      text += "    \(kind.missing): \(names.prefix(mostNames).joined(separator: ", "))\(more)\n"
    }
    return text
  }

  /// The most names in a line.
  private static let mostNames = 6

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

extension Coverage.Goal.Kind {
  /// The failure to reach goals of this kind, before their names.
  fileprivate var missing: String {
    switch self {
    case .step: "never start"
    case .conditionTrue: "conditions that are never true"
    case .conditionFalse: "conditions that are never false"
    case .retry: "never retried"
    case .exhausted: "retried, but never until they fail"
    case .tolerated: "allowed to fail, but never fail"
    }
  }
}

extension [TestFileResult] {
  var joinedCases: [CaseResult] { flatMap(\.cases) }
}
