/// Deliberately leaked: exiting is faster than freeing a large plan object by object.
enum Kept {
  private final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  static func untilExit(_ value: some Sendable) { _ = Unmanaged.passRetained(Box(value)) }
}
