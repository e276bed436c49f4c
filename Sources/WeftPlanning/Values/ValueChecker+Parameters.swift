import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// Checks the expressions for inputs of another file.
extension ValueChecker {
  mutating func checkParameter(
    _ name: String, _ reading: ValueNames.Knowledge, _ text: PlannedText, of owner: TextOwner
  ) {
    // Unknown parameters, and files that were not read, are reported elsewhere.
    guard let input = input(givenBy: owner, named: name) else { return }
    if reading.isSecret, !input.isSecret { report(.secretForOpenInput(name), text, nil) }
    let wanted = ExpressionType(input.schema)
    guard !reading.type.alternatives.contains(where: wanted.mayBe) else { return }
    report(
      .wrongType(
        found: reading.type.name, wanted: input.schema.summary, in: text.site,
        help: nil), text, nil)
  }

  private func input(givenBy owner: TextOwner, named name: String) -> InputDeclaration? {
    guard case .group(let caller) = owner, let name = InputName(name),
      case .workflow(let nested)? = outline.groups[caller].step?.action
    else { return nil }
    return nested.workflow?.inputs.first { $0.name == name }
  }
}

extension ExpressionType {
  /// Whether a value of one kind may be of this type; the contents of arrays and objects are checked when the value
  /// exists.
  fileprivate func mayBe(_ kind: ExpressionType) -> Bool {
    alternatives.contains { wanted in
      switch (wanted, kind) {
      case (.any, _), (_, .any), (.null, .null), (.boolean, .boolean), (.number, .number),
        (.string, .string), (.array, .array), (.object, .object):
        true
      default: false
      }
    }
  }
}
