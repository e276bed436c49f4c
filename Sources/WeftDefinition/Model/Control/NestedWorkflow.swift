public import WeftDiagnostics
public import WeftJSON

/// Another workflow file, run as part of the graph.
public struct NestedWorkflow: Sendable, Hashable {
  /// The path as written: relative to the file that names it.
  public var path: String
  /// Values for the other file's inputs, in the order of the file.
  public var parameters: [Parameter]
  /// The decoded file; `nil` until it has been read.
  public var workflow: Workflow?
  /// Whether the file could not be read, or is invalid by itself, and this was reported.
  package var isRejected = false
  /// The path, with its quotes.
  public var place: Written<SourceRange?>

  public init(
    path: String, parameters: [Parameter] = [], workflow: Workflow? = nil,
    place: SourceRange? = nil
  ) {
    self.path = path
    self.parameters = parameters
    self.workflow = workflow
    self.place = Written(place)
  }
}

/// A value for an input of another workflow, or for an action.
public struct Parameter: Sendable, Hashable {
  public enum Value: Sendable, Hashable {
    case value(JSONValue)
    /// A text with expressions.
    case text(String)
  }

  public var name: String
  public var value: Value
  /// The name, with its quotes.
  public var place: Written<SourceRange?>

  public init(_ name: String, _ value: Value, place: SourceRange? = nil) {
    self.name = name
    self.value = value
    self.place = Written(place)
  }
}
