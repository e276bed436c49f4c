import Synchronization

/// One input of a ``Junction``: the end of a run of stages.
class AnyInput {
  /// The producer; `nil` before the input is attached, and after it has ended.
  final fileprivate(set) var origin: Origin?
  /// The position among the junction's inputs.
  final fileprivate var position = 0
  /// Whether the end has come, possibly while the value still waits.
  final fileprivate(set) var isComplete = false

  /// Whether the input holds a value.
  var isFull: Bool { preconditionFailure("\(type(of: self)) has no value") }
  /// Whether the end that has come is a failure.
  var hasFailed: Bool { preconditionFailure("\(type(of: self)) has no end") }

  /// Ends `junction` as this input has ended.
  func passEnd(to junction: Junction) {}
  /// Takes over a value that has arrived.
  fileprivate func accept() {}
  /// Moves the value to where ``Input/latest`` finds it.
  func advance() {}
}

/// An input with room for one value. It asks for the next when that value is taken.
///
/// The producer writes `incoming` only when it has been asked for it, and the junction reads it only when it learns of the
/// arrival, so the two never meet. `completion` is written once. The mutex of the junction orders these accesses. The rest is
/// used by the junction only.
final class Input<Value: Sendable, Failure: Error>: AnyInput {
  private var incoming: Value?
  private(set) var value: Value?
  private(set) var completion: Completion<Failure>?
  /// The value taken by the last ``advance()``.
  private(set) var latest: Value?

  override var isFull: Bool { value != nil }

  override var hasFailed: Bool {
    if case .failure? = completion { true } else { false }
  }

  override func passEnd(to junction: Junction) {
    if let completion { junction.finish(completion) }
  }

  fileprivate override func accept() { value = incoming.take() }

  override func advance() { latest = take() }

  /// Removes the value, which must be there, and asks for the next.
  func take() -> Value {
    guard let value else { preconditionFailure("a value was taken from an empty input") }
    self.value = nil
    origin?.request()
    return value
  }

  fileprivate func stage(into junction: Junction) -> Stage {
    Stage { [self] in
      incoming = $0.value(as: Value.self)
      junction.tell(.value(self))
      return .wait
    } complete: { [self] in
      completion = Completion($0)
      junction.tell(.completion(self))
    }
  }
}

/// An origin with inputs: an operator that joins streams, or keeps values for later.
///
/// Subclasses react in turn to a value of an input, to the end of an input, and to a receiver that becomes ready. A value
/// that cannot be sent stays in its input, whose producer is not asked for more: a junction buffers one value for each
/// input. Sendable as every ``Origin`` is; what inputs and the drain share is in the mutex.
class Junction: Origin, @unchecked Sendable {
  fileprivate enum Arrival {
    case value(AnyInput)
    case completion(AnyInput)
  }

  /// Sendable, because the inputs in it are handed from the drain that fills them to the one that reads them.
  private struct Arrivals: @unchecked Sendable {
    var list: [Arrival] = []
  }

  private let arrivals = Mutex(Arrivals())
  @exclusivity(unchecked) private final var hasStarted = false
  @exclusivity(unchecked) private final var inputs: [AnyInput] = []

  /// The number of inputs that have not ended.
  final var inputCount: Int { inputs.count }

  /// Attaches the first inputs.
  func start() {}
  /// Reacts to the value that `input` holds.
  func receive(from input: AnyInput) {}
  /// Reacts to the end of `input`, whose last value has been taken.
  func complete(from input: AnyInput) {}
  /// Emits what waits, as far as the receiver is ready. Called after all other reactions.
  func proceed() {}

  /// Subscribes `input` to `publisher` and asks for its first value.
  final func attach<Value, Failure>(
    _ input: Input<Value, Failure>, to publisher: Publisher<Value, Failure>
  ) {
    let origin = publisher.node.subscribe(input.stage(into: self))
    input.origin = origin
    input.position = inputs.count
    inputs.append(input)
    origin.request()
  }

  /// Forgets `input` and cancels its producer.
  final func detach(_ input: AnyInput) {
    guard let origin = input.origin.take() else { return }
    inputs.swapAt(input.position, inputs.count - 1)
    inputs[input.position].position = input.position
    inputs.removeLast()
    if !input.isComplete { origin.cancel() }
  }

  /// Takes the value of `input` and emits it.
  final func forward<Value, Failure>(_ input: Input<Value, Failure>) {
    let value = input.take()
    emit(value)
    if input.isComplete { end(of: input) }
  }

  /// Reacts to an end that came while its input still held a value.
  final func end(of input: AnyInput) {
    guard !isEnded, input.origin != nil, !input.isFull else { return }
    detach(input)
    complete(from: input)
  }

  fileprivate final func tell(_ arrival: Arrival) {
    arrivals.withLock { $0.list.append(arrival) }
    notify()
  }

  final override func react(_ ready: RunQueue) {
    if !hasStarted {
      hasStarted = true
      start()
    }
    let arrived = arrivals.withLock { arrivals in
      let list = arrivals.list
      arrivals.list.removeAll(keepingCapacity: list.count <= 4)
      return list
    }
    for arrival in arrived where !isEnded {
      switch arrival {
      case .value(let input):
        input.accept()
        if input.origin != nil { receive(from: input) }
      case .completion(let input):
        guard input.origin != nil else { continue }
        input.isComplete = true
        end(of: input)
      }
    }
    if !isEnded { proceed() }
  }

  override func cleanUp() {
    for input in inputs {
      if !input.isComplete { input.origin?.cancel() }
      input.origin = nil
    }
    inputs = []
  }
}

/// A junction with a single input, whose end it passes on. Sendable as every ``Origin`` is.
class Pipe<Output: Sendable, Failure: Error>: Junction, @unchecked Sendable {
  final let input = Input<Output, Failure>()
  private let source: Publisher<Output, Failure>

  init(_ stage: Stage, _ source: Publisher<Output, Failure>) {
    self.source = source
    super.init(stage)
  }

  final override func start() { attach(input, to: source) }

  override func complete(from input: AnyInput) { input.passEnd(to: self) }
}

/// A junction that passes the values of one stream, to end a run of stages. Sendable as every ``Origin`` is.
private final class Relay<Output: Sendable, Failure: Error>: Junction, @unchecked Sendable {
  private let source: @Sendable () -> Publisher<Output, Failure>
  private let input = Input<Output, Failure>()

  init(_ stage: Stage, _ source: @escaping @Sendable () -> Publisher<Output, Failure>) {
    self.source = source
    super.init(stage)
  }

  override func start() { attach(input, to: source()) }

  override func proceed() {
    if isOpen, input.isFull { forward(input) }
  }

  override func complete(from input: AnyInput) { input.passEnd(to: self) }
}

extension Publisher {
  /// Publishes the values of the publisher that `source` returns for each subscription, through a junction.
  static func relay(_ source: @escaping @Sendable () -> Publisher) -> Publisher {
    Publisher(source: { Relay($0, source) })
  }
}
