import WeftEvents

@testable import WeftTelemetry

/// The rules that the spans of any run obey.
struct TraceShape {
  private(set) var violations: [String] = []

  init(_ spans: [Span]) {
    let known = Dictionary(spans.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    if known.count != spans.count { violations.append("two spans have one identity") }
    let roots = spans.filter { $0["weft.span"] == .text("run") }
    if roots.count != 1 { violations.append("\(roots.count) spans are the run") }
    for span in spans {
      if span.end < span.start { violations.append("\(span.name) ends before it starts") }
      if Set(span.attributes.map(\.key)).count != span.attributes.count {
        violations.append("\(span.name) has an attribute twice")
      }
      if span["weft.span"] == .text("run") { continue }
      guard let parent = span.parent.flatMap({ known[$0] }) else {
        violations.append("\(span.name) has no parent")
        continue
      }
      if span.start < parent.start || span.end > parent.end {
        violations.append(
          "\(span.name) (\(span.start)-\(span.end)) is outside of \(parent.name) "
            + "(\(parent.start)-\(parent.end))")
      }
    }
  }
}
