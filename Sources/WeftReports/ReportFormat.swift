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
