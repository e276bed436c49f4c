public import WeftJSON

/// The values of a run's inputs, in the order of their declarations; each fits its declaration.
public struct InputValues: Sendable, Hashable {
  /// The value of an input in a run.
  public struct Entry: Sendable, Hashable {
    public let name: InputName
    public let value: JSONValue
    /// Whether the value must not be shown.
    public let isSecret: Bool

    package init(_ name: InputName, _ value: JSONValue, isSecret: Bool = false) {
      self.name = name
      self.value = value
      self.isSecret = isSecret
    }
  }

  public let entries: [Entry]
  private let places: [InputName: Int]

  /// The values for a workflow without inputs.
  public static let none = InputValues([])

  /// - Parameter entries: No name occurs twice.
  package init(_ entries: [Entry]) {
    self.entries = entries
    places = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.name, $0) })
  }

  /// The input with this name, in any case; `nil` if there is none.
  public func entry(named name: String) -> Entry? {
    InputName(name).flatMap { places[$0] }.map { entries[$0] }
  }

  /// The value of the input with this name, in any case.
  public subscript(name: String) -> JSONValue? { entry(named: name)?.value }
}

extension InputValues.Entry: CustomStringConvertible, CustomReflectable {
  /// Hides a secret, however the entry is printed.
  public var description: String { "\(name): \(isSecret ? "***" : value.description)" }

  public var customMirror: Mirror {
    Mirror(self, children: ["name": name.text, "value": isSecret ? "***" : value.description])
  }
}
