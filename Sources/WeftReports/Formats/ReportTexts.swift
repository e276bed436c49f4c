import WeftEvents
import WeftJSON
import WeftPlanning
import WeftRecord
import WeftReporting

/// The texts of the steps in the data of the HTML report: reasons, elements, outputs, and the ends of logs, each as far
/// as there is room.
struct ReportTexts {
  private let run: ReportedRun
  private let steps: [ReportData.Row]

  private static let logBytes = 400 << 10

  init(_ run: ReportedRun, _ steps: [ReportData.Row]) {
    (self.run, self.steps) = (run, steps)
  }

  func write(to json: inout JSONWriter) {
    var room = ReportData.reasonBytes
    json.object("reasons") { json in
      for (row, step) in steps.enumerated() where room > 0 {
        guard
          let text = step.step.flatMap({
            run.reason(of: $0, at: step.address) ?? $0.causeOfExecution
          })
        else { continue }
        let shown = run.shown(String(text.prefix(ReportData.longestText)))
        room -= shown.utf8.count
        json.member(row, shown)
      }
    }
    writeElements(to: &json)
    writeOutputs(to: &json)
    writeLogs(to: &json)
  }

  /// Writes the values of the elements that steps are in, unless a loop's list is secret.
  private func writeElements(to json: inout JSONWriter) {
    var values: [StepAddress: [String: JSONValue]] = [:]
    for (address, group) in run.recorded.groups {
      for element in group.allElements {
        values[address, default: [:]][element.key] = element.value
      }
    }
    var room = ReportData.reasonBytes
    json.object("elements") { json in
      for (row, step) in steps.enumerated() where room > 0 {
        guard let element = step.address.innermostElement, let loop = element.loop,
          case .element(let key)? = element.parts?.last, let value = values[loop]?[key]
        else { continue }
        let text = run.shown(String(value.shownText.prefix(ReportData.longestText)))
        room -= text.utf8.count
        json.member(row, text)
      }
    }
  }

  private func writeOutputs(to json: inout JSONWriter) {
    var room = ReportData.reasonBytes
    json.object("outputs") { json in
      for (row, step) in steps.enumerated() where room > 0 {
        guard case .finished(let end, _)? = step.step?.state, !end.outputs.isEmpty else { continue }
        json.key(String(row))
        json.beginArray()
        for output in end.outputs {
          let value = output.value.map {
            run.shown(String($0.shownText.prefix(ReportData.longestText)))
          }
          room -= output.name.utf8.count + (value?.utf8.count ?? 0)
          json.beginArray()
          json.string(run.shown(output.name))
          if let value { json.string(value) } else { json.null() }
          json.endArray()
        }
        json.endArray()
      }
    }
  }

  /// Writes the last lines of failed steps first, and of others as far as there is room.
  private func writeLogs(to json: inout JSONWriter) {
    var room = ReportTexts.logBytes
    let written = steps.enumerated().filter { step in
      // The record of a step in doubt does not say whether it wrote anything.
      step.element.step.map { $0.mayHaveWritten || $0.isInDoubt } ?? false
    }
    let isFailure = { (step: ReportData.Row) in
      step.step.map { run.verdict(of: $0, at: step.address).isFailure } ?? false
    }
    let failed = written.filter { isFailure($0.element) }
    let others = written.filter { !isFailure($0.element) }
    json.object("logs") { json in
      for (row, step) in failed + others where room > 0 {
        let isFailed = isFailure(step)
        // A failed step may have the whole room, another only a small part of it.
        var lines = run.lastLines(
          of: step.address, atMost: isFailed ? 40 : 10, bytes: isFailed ? 16 << 10 : 2 << 10)
        var left = min(room, isFailed ? 16 << 10 : 2 << 10)
        let kept = lines.reversed().prefix { line in
          left -= line.utf8.count
          return left > 0
        }
        lines = kept.reversed()
        guard !lines.isEmpty else { continue }
        room -= lines.reduce(0) { $0 + $1.utf8.count + 3 }
        json.key(String(row))
        json.beginArray()
        for line in lines { json.string(line) }
        json.endArray()
      }
    }
  }
}

extension RecordedStep {
  /// A clause about why it ran though it has `cache`.
  fileprivate var causeOfExecution: String? {
    guard case .finished(let end, _) = state else { return nil }
    return end.ranBecause.map { "ran because \($0)" }
  }
}

/// Reports about recorded runs: a ``ReportedRun`` is the model, and each format writes it as bytes.
///
/// Nothing here reads the state directory or a clock: the caller collects what a run's folder holds, so the same record
/// always gives the same bytes.
public enum ReportFormat: String, Sendable, Hashable, CaseIterable {
  /// A page that explores the run.
  case html
  /// A summary for comments and job summaries.
  case markdown
  /// Test cases, as Jenkins and Surefire read them.
  case junit
  /// Trace events, as Perfetto and speedscope read them.
  case trace
  /// A table of steps.
  case csv

  /// The format that the ending of a file's name stands for; `nil` for an unknown one.
  public init?(ending path: String) {
    let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map {
      path[path.utf8.index(after: $0)...]
    }
    let known = ReportFormat.allCases.first { format in
      (name ?? path[...]).lowercased().hasSuffix(format.ending)
    }
    guard let known else { return nil }
    self = known
  }

  /// The ending of names that stand for the format.
  public var ending: String {
    switch self {
    case .html: ".html"
    case .markdown: ".md"
    case .junit: ".xml"
    case .trace: "trace.json"
    case .csv: ".csv"
    }
  }
}

extension ReportedRun {
  /// The report, with a line end at its end.
  package func rendered(as format: ReportFormat) -> [UInt8] {
    switch format {
    case .html: HTMLReport(self).rendered()
    case .markdown: MarkdownReport(self).rendered()
    case .junit: JUnitReport(self).rendered()
    case .trace: TraceReport(self).rendered()
    case .csv: CSVReport(self).rendered()
    }
  }
}
