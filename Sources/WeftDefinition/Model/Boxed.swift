/// A value stored outside its owner, because most owners have none.
@usableFromInline package indirect enum Boxed<Value> {
  case holding(Value)

  @inlinable package var value: Value {
    switch self {
    case .holding(let value): value
    }
  }
}

extension Boxed: Sendable where Value: Sendable {}
extension Boxed: Equatable where Value: Equatable {}
extension Boxed: Hashable where Value: Hashable {}
