public import WeftDiagnostics
public import WeftJSON

/// What a step waits for that runs nothing.
public enum Waiting: Sendable, Hashable {
  case duration(Duration)
  /// A moment of the wall clock.
  case until(WallMoment)
  /// A text that is exactly one expression, of a duration.
  case computedDuration(Condition)
  /// A text that is exactly one expression, of a moment.
  case computedMoment(Condition)
}

/// A moment of the wall clock, as RFC 3339 writes it.
public struct WallMoment: Sendable, Hashable {
  /// Since 1970-01-01T00:00:00Z, without leap seconds.
  public var nanoseconds: Int64
  /// As it was written.
  public var text: String

  public init(nanoseconds: Int64, text: String) {
    self.nanoseconds = nanoseconds
    self.text = text
  }
}

/// What is asked of a person.
public struct Approval: Sendable, Hashable {
  /// What the person reads; may hold expressions.
  public var message: String

  public init(message: String) {
    self.message = message
  }
}

/// A value given to another workflow's input.
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

/// Another workflow file, run as part of the graph.
public struct NestedWorkflow: Sendable, Hashable {
  /// As it is written: relative to the file that names it.
  public var path: String
  /// The other file's inputs, by name, in the order of the file.
  public var parameters: [Parameter]
  /// What the file says; `nil` until it has been read.
  public var workflow: Workflow?
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
