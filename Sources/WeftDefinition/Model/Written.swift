/// A location in a file, carried along for messages and never part of the meaning: two values that
/// differ only in `Written` parts are equal and have the same hash.
public struct Written<Value: Sendable>: Sendable, Hashable {
  public var value: Value

  public init(_ value: Value) {
    self.value = value
  }

  public static func == (left: Written, right: Written) -> Bool { true }

  public func hash(into hasher: inout Hasher) {}
}
