/// A value kept outside of the one that has it, where most have none.
indirect enum Boxed<Value: Sendable & Hashable>: Sendable, Hashable {
  case holding(Value)

  var value: Value {
    switch self {
    case .holding(let value): value
    }
  }
}
