public import WeftDiagnostics

/// A declared output of a step, a group or a workflow.
public struct OutputDeclaration: Sendable, Hashable {
  public var name: String
  /// A text with expressions; `nil` if the step's program writes the value into the file
  /// `$WEFT_OUTPUT`.
  public var value: String?
  /// The schema of the value; `nil` if any value is allowed.
  public var schema: ValueSchema?
  /// Whether it is masked wherever it is shown, and never recorded.
  public var isSecret: Bool
  /// The name, with its quotes.
  public var place: Written<SourceRange?>

  public init(
    _ name: String, value: String?, schema: ValueSchema? = nil, isSecret: Bool = false,
    place: SourceRange? = nil
  ) {
    self.name = name
    self.value = value
    self.schema = schema
    self.isSecret = isSecret
    self.place = Written(place)
  }
}
