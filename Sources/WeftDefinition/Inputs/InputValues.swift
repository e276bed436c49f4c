public import WeftJSON

/// The values of a run's inputs, in the order of their declarations; each fits its own.
public struct InputValues: Sendable, Hashable {
  /// What an input is in a run.
  public struct Entry: Sendable, Hashable {
    public let name: InputName
    public let value: JSONValue
    /// Whether nothing of the value may be shown.
    public let isSecret: Bool

    package init(_ name: InputName, _ value: JSONValue, isSecret: Bool = false) {
      self.name = name
      self.value = value
      self.isSecret = isSecret
    }
  }

  public let entries: [Entry]
  private let places: [InputName: Int]

  /// Of a workflow without inputs.
  public static let none = InputValues([])

  /// - Parameter entries: Each name once.
  package init(_ entries: [Entry]) {
    self.entries = entries
    places = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.name, $0) })
  }

  /// The input of a name, in upper or lower case; `nil` where nothing is known of it.
  public func entry(named name: String) -> Entry? {
    InputName(name).flatMap { places[$0] }.map { entries[$0] }
  }

  /// The value of an input, its name in upper or lower case.
  public subscript(name: String) -> JSONValue? { entry(named: name)?.value }
}

extension InputValues.Entry: CustomStringConvertible, CustomReflectable {
  /// A secret is not shown, however it comes to be printed.
  public var description: String { "\(name): \(isSecret ? "***" : value.description)" }

  public var customMirror: Mirror {
    Mirror(self, children: ["name": name.text, "value": isSecret ? "***" : value.description])
  }
}
