/// The name by which an embedding program registers an action: `[A-Za-z_][A-Za-z0-9_.-]{0,254}`.
public struct ActionName: Sendable, Hashable {
  public let text: String

  /// `nil` if `text` is no such name.
  public init?(_ text: String) {
    guard ActionName.fault(in: text) == nil else { return nil }
    self.text = text
  }

  /// The first thing that keeps `text` from being a name: points are as good as dashes, else it is as an id.
  package static func fault(in text: String) -> StepID.Fault? {
    if text.utf8.first == UInt8(ascii: ".") { return .beginning(".") }
    return StepID.fault(in: String(text.map { $0 == "." ? "-" : $0 }))
  }
}

extension ActionName: ExpressibleByStringLiteral {
  /// - Precondition: The literal is such a name.
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
