/// A value stored outside its owner, because most owners have none.
@usableFromInline package indirect enum Boxed<Value> {
  case holding(Value)

  @inlinable package var value: Value {
    switch self {
    case .holding(let value): value
    }
  }
}

/// Stores a large value outside its owner, so that copying the owner costs neither time nor code for the members of the
/// value. Each change allocates.
@propertyWrapper package struct StoredOutside<Value> {
  private var box: Boxed<Value>

  package init(wrappedValue: Value) { box = .holding(wrappedValue) }

  package var wrappedValue: Value {
    get { box.value }
    set { box = .holding(newValue) }
  }
}

extension StoredOutside: Sendable where Value: Sendable {}

extension Boxed: Sendable where Value: Sendable {}
extension Boxed: Equatable where Value: Equatable {}
extension Boxed: Hashable where Value: Hashable {}
