import WeftDiagnostics

/// A problem and its location.
struct JSONProblem {
  var fault: JSONFault
  var range: Range<Int>
  /// The related opening bracket or first key.
  var other: Range<Int>?

  init(_ fault: JSONFault, _ range: Range<Int>, other: Range<Int>? = nil) {
    self.fault = fault
    self.range = range
    self.other = other
  }

  func diagnostic(_ severity: Diagnostic.Severity = .error, in file: SourceFile) -> Diagnostic {
    func place(_ range: Range<Int>) -> Diagnostic.Place {
      Diagnostic.Place(
        file: file, range: SourceRange(start: range.lowerBound, end: range.upperBound))
    }
    return Diagnostic(
      fault.isRemark ? .note : severity, code: fault.code, message: fault.message,
      place: place(range), help: fault.help,
      related: other.map { [Diagnostic.Related(message: fault.relation, place: place($0))] } ?? [])
  }
}
