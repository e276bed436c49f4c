import WeftDiagnostics
import WeftDrawing
import WeftJSON
import WeftPlanning
import WeftReporting

/// The results for programs.
extension TestReport {
  /// One JSON object. `format` is 1 and changes when a reader of the old format would misunderstand the new one.
  package var json: String {
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.object {
      $0.member("format", 1)
      $0.member("passed", passedCount)
      $0.member("failed", failedCount)
      $0.member("rejected", rejected.count)
      $0.array("files") {
        for file in files { TestReport.write(file, to: &$0) }
        for rejection in rejected {
          $0.object {
            $0.member("file", rejection.path)
            TestReport.write("problems", rejection.diagnostics, to: &$0)
          }
        }
      }
    }
    writer.endLine()
    return writer.text
  }

  private static func write(_ file: TestFileResult, to writer: inout JSONWriter) {
    writer.object {
      $0.member("file", file.path)
      $0.array("cases") {
        for result in file.cases { write(result, to: &$0) }
      }
      guard let coverage = file.coverage else { return }
      $0.object("coverage") {
        $0.member("reached", coverage.goals.count - coverage.missing.count)
        $0.member("all", coverage.goals.count)
        $0.array("missing") {
          for goal in coverage.missing {
            $0.object {
              $0.member("step", goal.address.text)
              $0.member("kind", goal.kind.rawValue)
            }
          }
        }
      }
    }
  }

  private static func write(_ result: CaseResult, to writer: inout JSONWriter) {
    writer.object {
      $0.member("name", result.name)
      $0.member("passed", result.passed)
      $0.member("orders", result.orders)
      $0.member("runs", result.points)
      $0.member("failingRecord", result.failingPoint)
      $0.member("failingSeed", result.failingSeed.map { Int(clamping: $0) })
      $0.member("virtualUs", result.virtualTime.microseconds)
      $0.member("durationUs", result.realTime.microseconds)
      if !result.passed { write("problems", result.mismatches, to: &$0) }
    }
  }

  private static func write(
    _ key: StaticString, _ diagnostics: [Diagnostic], to writer: inout JSONWriter
  ) {
    writer.array(key) {
      for diagnostic in diagnostics { DiagnosticJSON().write(diagnostic, to: &$0) }
    }
  }

  /// JUnit XML, as CI services read it: a suite for each file, an error for a rejected one.
  package var junit: String {
    var markup = Markup()
    markup.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"weft test\"")
    markup.append("tests", files.joinedCases.count + rejected.count)
    markup.append("failures", failedCount)
    markup.append("errors", rejected.count)
    markup.append(">\n")
    for file in files { TestReport.write(file, to: &markup) }
    for rejection in rejected {
      TestReport.beginSuite(rejection.path, tests: 1, failures: 0, errors: 1, &markup)
      TestReport.beginCase(rejection.path, "is accepted", .zero, &markup)
      TestReport.write("error", rejection.diagnostics, to: &markup)
      markup.append("    </testcase>\n  </testsuite>\n")
    }
    markup.append("</testsuites>\n")
    return String(decoding: markup.bytes, as: UTF8.self)
  }

  private static func write(_ file: TestFileResult, to markup: inout Markup) {
    beginSuite(
      file.path, tests: file.cases.count, failures: file.cases.count { !$0.passed }, errors: 0,
      &markup)
    for result in file.cases {
      beginCase(file.path, result.name, result.realTime, &markup)
      if !result.passed { write("failure", result.mismatches, to: &markup) }
      markup.append("    </testcase>\n")
    }
    markup.append("  </testsuite>\n")
  }

  private static func beginSuite(
    _ path: String, tests: Int, failures: Int, errors: Int, _ markup: inout Markup
  ) {
    markup.append("  <testsuite name=\"")
    markup.append(text: path)
    markup.append("\"")
    markup.append("tests", tests)
    markup.append("failures", failures)
    markup.append("errors", errors)
    markup.append(">\n")
  }

  private static func beginCase(
    _ path: String, _ name: String, _ time: Duration, _ markup: inout Markup
  ) {
    markup.append("    <testcase classname=\"")
    markup.append(text: path)
    markup.append("\" name=\"")
    markup.append(text: name)
    markup.append("\" time=\"")
    let microseconds = time.microseconds
    let fraction = String(microseconds % 1_000_000)
    markup.append(text: "\(microseconds / 1_000_000).")
    markup.append(text: String(repeating: "0", count: 6 - fraction.count) + fraction)
    markup.append("\">\n")
  }

  private static func write(
    _ element: StaticString, _ diagnostics: [Diagnostic], to markup: inout Markup
  ) {
    markup.append("      <")
    markup.append(element)
    markup.append(" message=\"")
    markup.append(text: diagnostics.first?.message ?? "")
    markup.append("\">")
    markup.append(
      text: DiagnosticText(usesColour: false).rendered(DiagnosticCollection(diagnostics)))
    markup.append("</")
    markup.append(element)
    markup.append(">\n")
  }
}

extension Duration {
  fileprivate var microseconds: Int {
    let (seconds, attoseconds) = components
    return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
  }
}
