import Synchronization
import WeftFutures

// The streams of the library Propagate (Jacob Martin), by its public names, on those of WeftFutures.
//
// Not expressible: values that are not Sendable; callbacks on a dispatch queue (`sink(on:)` takes an actor instead);
// a publisher whose release cancels its subscribers without a state (subjects do not end when they are released).
// Different: work inside callbacks is queued (see `Publisher`), so a state published by a callback arrives after it; an
// `onCancelled` handler runs for a cancellation by the publisher, and `handleEvents(receiveCancel:)` for one by the
// subscriber. Errors and cancellation are states here, because in Propagate errors do not end a stream.

enum StreamState<Value: Sendable, Failure: Error>: Sendable {
  case data(Value)
  case error(Failure)
  case cancelled

  func map<Other>(_ transform: (Value) -> Other) -> StreamState<Other, Failure> {
    switch self {
    case .data(let value): .data(transform(value))
    case .error(let failure): .error(failure)
    case .cancelled: .cancelled
    }
  }

  var value: Value? { if case .data(let value) = self { value } else { nil } }
  var isCancelled: Bool { if case .cancelled = self { true } else { false } }
}

extension StreamState: Equatable where Value: Equatable, Failure: Equatable {}

/// Propagate's `Publisher`; with a first state, its `StatefulPublisher`.
final class StatePublisher<Value: Sendable, Failure: Error>: Sendable {
  typealias State = StreamState<Value, Failure>
  private let states: ReplaySubject<State, Never>

  init(isStateful: Bool = false) { states = ReplaySubject(isStateful ? 1 : 0) }

  func publish(_ value: Value) { states.send(.data(value)) }
  func publish(_ failure: Failure) { states.send(.error(failure)) }
  func publish(_ result: Result<Value, Failure>) {
    do throws(Failure) { publish(try result.get()) } catch { publish(error) }
  }
  func publish(state: State) { if state.isCancelled { cancelAll() } else { states.send(state) } }
  func cancelAll() {
    states.send(.cancelled)
    states.send(completion: .finished)
  }
  func subscriber() -> StateSubscriber<Value, Failure> { StateSubscriber(states.publisher()) }
}

/// Propagate's `Subscriber`: its callbacks live as long as it does.
final class StateSubscriber<Value: Sendable, Failure: Error>: Sendable {
  typealias State = StreamState<Value, Failure>
  let states: Publisher<State, Never>
  private let subscriptions = Mutex<Set<AnyCancellable>>([])

  init(_ states: Publisher<State, Never>) { self.states = states }

  static func of(_ values: Value...) -> StateSubscriber {
    StateSubscriber(Publisher(values.map { .data($0) }))
  }

  @discardableResult
  func subscribe(_ receive: @escaping @Sendable (State) -> Void) -> StateSubscriber {
    let subscription = states.sink { receive($0) }
    subscriptions.withLock { $0 = $0.union([subscription]) }
    return self
  }
  @discardableResult
  func onNewData(_ receive: @escaping @Sendable (Value) -> Void) -> StateSubscriber {
    subscribe { if case .data(let value) = $0 { receive(value) } }
  }
  @discardableResult
  func onError(_ receive: @escaping @Sendable (Failure) -> Void) -> StateSubscriber {
    subscribe { if case .error(let failure) = $0 { receive(failure) } }
  }
  @discardableResult
  func onCancelled(_ receive: @escaping @Sendable () -> Void) -> StateSubscriber {
    subscribe { if $0.isCancelled { receive() } }
  }
  func cancel() {
    for subscription in subscriptions.withLock({ $0 }) { subscription.cancel() }
  }
  @discardableResult
  func bindTo(_ publisher: StatePublisher<Value, Failure>) -> StateSubscriber {
    subscribe { publisher.publish(state: $0) }
  }

  func mapStates<NewValue, NewFailure>(
    _ transform: @escaping @Sendable (State) -> StreamState<NewValue, NewFailure>
  ) -> StateSubscriber<NewValue, NewFailure> {
    StateSubscriber<NewValue, NewFailure>(states.map(transform))
  }
  func mapValues<NewValue>(
    _ transform: @escaping @Sendable (Value) -> NewValue
  ) -> StateSubscriber<NewValue, Failure> { mapStates { $0.map(transform) } }
  func filterStates(_ isIncluded: @escaping @Sendable (State) -> Bool) -> StateSubscriber {
    StateSubscriber(states.filter(isIncluded))
  }
  func filterValues(_ isIncluded: @escaping @Sendable (Value) -> Bool) -> StateSubscriber {
    filterStates { $0.value.map(isIncluded) ?? true }
  }
  func scanValues<Total: Sendable>(
    _ initial: Total, _ combine: @escaping @Sendable (Total, Value) -> Total
  ) -> StateSubscriber<Total, Failure> {
    StateSubscriber<Total, Failure>(
      states.scan((initial, nil as StreamState<Total, Failure>?)) { total, state in
        let next = state.map { combine(total.0, $0) }
        return (next.value ?? total.0, next)
      }.compactMap { $0.1 })
  }
  func startWith(_ value: Value) -> StateSubscriber {
    StateSubscriber(states.prepend(.data(value)))
  }
  func stateful() -> StateSubscriber { StateSubscriber(states.stateful()) }
  static func merge(_ inputs: StateSubscriber...) -> StateSubscriber {
    StateSubscriber(.merge(inputs.map(\.states)))
  }
  func combine<Other>(
    with other: StateSubscriber<Other, Failure>
  ) -> StateSubscriber<(Value, Other), Failure> {
    StateSubscriber<(Value, Other), Failure>(
      states.combineLatest(other.states).map { one, two in
        switch (one, two) {
        case (.data(let value), .data(let other)): .data((value, other))
        case (.error(let failure), _), (_, .error(let failure)): .error(failure)
        default: .cancelled
        }
      })
  }
  func flatMapValues<NewValue>(
    _ transform: @escaping @Sendable (Value) -> StateSubscriber<NewValue, Failure>
  ) -> StateSubscriber<NewValue, Failure> {
    StateSubscriber<NewValue, Failure>(
      states.flatMapLatest { state in
        switch state {
        case .data(let value): transform(value).states
        case .error(let failure): .just(.error(failure))
        case .cancelled: .just(.cancelled)
        }
      })
  }
}

extension StateSubscriber where Value: Equatable {
  func distinctValues() -> StateSubscriber {
    StateSubscriber(states.removeDuplicates { $0.value != nil && $0.value == $1.value })
  }
}
