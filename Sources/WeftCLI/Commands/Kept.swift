/// What is kept to the end of the process: the kernel takes memory back faster than it can be given back
/// piece by piece, and a large plan has millions of pieces.
enum Kept {
  private final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  static func untilExit(_ value: some Sendable) { _ = Unmanaged.passRetained(Box(value)) }
}
