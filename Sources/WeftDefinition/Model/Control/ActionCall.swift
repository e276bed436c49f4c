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

/// The name by which an embedding program registers an action: `[A-Za-z_][A-Za-z0-9_.-]{0,254}`.
public struct ActionName: Sendable, Hashable {
  public let text: String

  /// `nil` if `text` is not a valid name.
  public init?(_ text: String) {
    guard ActionName.fault(in: text) == nil else { return nil }
    self.text = text
  }

  /// The first problem of `text` as a name. The rule is that of ids, except that dots are allowed after the beginning.
  package static func fault(in text: String) -> StepID.ParseError? {
    if text.utf8.first == UInt8(ascii: ".") { return .beginning(".") }
    return StepID.fault(in: String(text.map { $0 == "." ? "-" : $0 }))
  }
}

extension ActionName: ExpressibleByStringLiteral {
  /// - Precondition: The literal is a valid name.
  public init(stringLiteral text: String) {
    guard let name = ActionName(text) else {
      preconditionFailure(
        "\"\(text)\" is not the name of an action: [A-Za-z_][A-Za-z0-9_.-]{0,254}")
    }
    self = name
  }
}

extension ActionName: CustomStringConvertible {
  public var description: String { text }
}
