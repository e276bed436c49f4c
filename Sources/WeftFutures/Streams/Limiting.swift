/// Operators that publish a part of a stream. All pass one value at a time and keep none back.
extension Publisher {
  /// Publishes the first `count` values, then finishes and cancels the source. `prefix(0)` finishes at once
  /// and does not subscribe to the source. `count` must not be negative.
  public func prefix(_ count: Int) -> Publisher {
    precondition(count >= 0, "a prefix of \(count) values does not exist")
    guard count > 0 else { return .empty }
    return staged { next in
      var left = count
      return Stage(before: next) {
        left -= 1
        let demand = next.receive($0)
        guard left == 0 else { return demand }
        if case .ended = demand { return .ended }
        next.complete(nil)
        return .ended
      }
    }
  }

  /// Publishes values as long as `isIncluded` returns true, then finishes and cancels the source.
  public func prefix(while isIncluded: @escaping @Sendable (Output) -> Bool) -> Publisher {
    staged { next in
      Stage(before: next) {
        if isIncluded($0.value()) { return next.receive($0) }
        next.complete(nil)
        return .ended
      }
    }
  }

  /// Publishes all values after the first `count`. `count` must not be negative.
  public func dropFirst(_ count: Int = 1) -> Publisher {
    precondition(count >= 0, "\(count) values cannot be dropped")
    return staged { next in
      var left = count
      return Stage(before: next) {
        guard left == 0 else {
          left -= 1
          return .more
        }
        return next.receive($0)
      }
    }
  }

  /// Publishes all values from the first for which `isDropped` returns false.
  public func drop(while isDropped: @escaping @Sendable (Output) -> Bool) -> Publisher {
    staged { next in
      var hasBegun = false
      return Stage(before: next) {
        if !hasBegun { hasBegun = !isDropped($0.value()) }
        return hasBegun ? next.receive($0) : .more
      }
    }
  }

  /// Publishes the values for which `isIncluded` returns true, and at most one: the stream then finishes and the source is
  /// cancelled.
  public func first(where isIncluded: @escaping @Sendable (Output) -> Bool) -> Publisher {
    filter(isIncluded).prefix(1)
  }
}
