/// Operators that change or drop values. All pass one value at a time, keep none back, and end with their source.
extension Publisher {
  /// Publishes what `transform` returns for each value.
  @inlinable
  public func map<NewOutput>(
    _ transform: @escaping @Sendable (Output) -> NewOutput
  ) -> Publisher<NewOutput, Failure> {
    staged { next in
      Stage(before: next) { next.send(transform($0.value())) }
    }
  }

  /// Publishes what `transform` returns for each value. An error that it throws ends the stream and cancels the source.
  ///
  /// A closure that contains `throw` must declare its type, as in `{ value throws(Oops) in … }`.
  @inlinable
  public func tryMap<NewOutput>(
    _ transform: @escaping @Sendable (Output) throws(Failure) -> NewOutput
  ) -> Publisher<NewOutput, Failure> {
    staged { next in
      Stage(before: next) { value in
        let transformed: NewOutput
        do throws(Failure) {
          transformed = try transform(value.value())
        } catch {
          next.end(Completion.failure(error))
          return .ended
        }
        return next.send(transformed)
      }
    }
  }

  /// Publishes what `transform` returns for each value, without those that are `nil`.
  @inlinable
  public func compactMap<NewOutput>(
    _ transform: @escaping @Sendable (Output) -> NewOutput?
  ) -> Publisher<NewOutput, Failure> {
    staged { next in
      Stage(before: next) {
        guard let value = transform($0.value()) else { return .more }
        return next.send(value)
      }
    }
  }

  /// Publishes the values for which `isIncluded` returns true.
  @inlinable
  public func filter(_ isIncluded: @escaping @Sendable (Output) -> Bool) -> Publisher {
    staged { next in
      Stage(before: next) { isIncluded($0.value()) ? next.receive($0) : .more }
    }
  }

  /// Publishes each value that differs from the previous one by `areEqual`, and the first.
  @inlinable
  public func removeDuplicates(
    by areEqual: @escaping @Sendable (_ previous: Output, _ value: Output) -> Bool
  ) -> Publisher {
    staged { next in
      let previous = Held<Output?>(nil)
      return Stage(before: next) {
        let value: Output = $0.value()
        if let previous = previous.value, areEqual(previous, value) { return .more }
        previous.value = value
        return next.receive($0)
      }
    }
  }

  /// Publishes each result of combining the previous result with the next value, starting from `initial`, which is not
  /// published itself.
  @inlinable
  public func scan<Result: Sendable>(
    _ initial: Result, _ combine: @escaping @Sendable (Result, Output) -> Result
  ) -> Publisher<Result, Failure> {
    staged { next in
      let held = Held(initial)
      return Stage(before: next) {
        let result = combine(held.value, $0.value())
        held.value = result
        return next.send(result)
      }
    }
  }

  /// Publishes arrays of `count` values, and a shorter one with the rest if the stream finishes. Values before a failure
  /// are dropped. `count` must be positive.
  public func collect(_ count: Int) -> Publisher<[Output], Failure> {
    precondition(count > 0, "values cannot be collected in arrays of \(count)")
    return map { Optional($0) }.append(nil).staged { next in
      var values: [Output] = []
      return Stage(before: next) {
        if let value: Output = $0.value(as: Output?.self) {
          values.append(value)
          guard values.count == count else { return .more }
        } else if values.isEmpty {
          return .more
        }
        defer { values = [] }
        return next.send(values)
      }
    }
  }

  /// Calls closures for what happens in a subscription, in order and on the same thread: before the subscriber receives a
  /// value or the end, or after it has cancelled.
  ///
  /// A subscription that ends because an operator downstream wants no more values (`prefix`) counts as cancelled.
  public func handleEvents(
    receiveOutput: (@Sendable (Output) -> Void)? = nil,
    receiveCompletion: (@Sendable (Completion<Failure>) -> Void)? = nil,
    receiveCancel: (@Sendable () -> Void)? = nil
  ) -> Publisher {
    staged { next in
      var isEnded = false
      let cancel = {
        guard !isEnded else { return }
        isEnded = true
        receiveCancel?()
      }
      return Stage {
        receiveOutput?($0.value())
        let demand = next.receive($0)
        if case .ended = demand { cancel() }
        return demand
      } complete: {
        isEnded = true
        receiveCompletion?(Completion($0))
        next.complete($0)
      } cancelled: {
        cancel()
      }
    }
  }

  /// Writes each event of a subscription as a line that begins with `prefix`, by default to standard output.
  public func print(
    _ prefix: String = "", to write: @escaping @Sendable (String) -> Void = { Swift.print($0) }
  ) -> Publisher {
    let prefix = prefix.isEmpty ? "" : "\(prefix): "
    return handleEvents { value in
      write("\(prefix)value \(value)")
    } receiveCompletion: { completion in
      switch completion {
      case .finished: write("\(prefix)finished")
      case .failure(let failure): write("\(prefix)failure \(failure)")
      }
    } receiveCancel: {
      write("\(prefix)cancelled")
    }
  }
}

extension Publisher where Output: Equatable {
  /// Publishes each value that differs from the previous one, and the first.
  @inlinable
  public func removeDuplicates() -> Publisher { removeDuplicates { $0 == $1 } }
}

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
