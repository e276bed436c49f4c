public import WeftDiagnostics

/// An action of the embedding program, and its parameters.
public struct ActionCall: Sendable, Hashable {
  /// The planner checks that such an action exists.
  public var name: ActionName
  /// Values by name, in the order of the file.
  public var parameters: [Parameter]
  /// The name, with its quotes.
  public var place: Written<SourceRange?>

  public init(_ name: ActionName, with parameters: [Parameter] = [], place: SourceRange? = nil) {
    self.name = name
    self.parameters = parameters
    self.place = Written(place)
  }
}
