import WeftDiagnostics
import WeftJSON

/// Implements `fromJSON`: parses a value strictly by RFC 8259.
enum JSONText {
  static func value(
    of text: String, within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    let bytes = Array(text.utf8)
    guard !bytes.allSatisfy(Lexer.isSpace) else { throw .emptyJSON }
    try budget.take(bytes.count)
    let file = SourceFile(path: "", bytes: bytes)
    let (root, diagnostics) = JSONReader.read(
      file, limits: JSONLimits(bytes: budget.limit, problems: 1), beside: nil)
    if let fault = diagnostics.first(where: \.isError) {
      throw .malformedJSON(describe(fault, in: file))
    }
    guard let root else { throw .malformedJSON("it cannot be read") }
    try budget.take(root.document.nodeCount * MemoryLayout<ExpressionValue>.stride)
    return ExpressionValue(JSONValue(root))
  }

  private static func describe(_ fault: Diagnostic, in file: SourceFile) -> String {
    guard let place = fault.place else { return fault.message }
    let position = file.position(of: Int(place.range.start))
    return "\(fault.message) (line \(position.line), column \(position.column))"
  }
}
