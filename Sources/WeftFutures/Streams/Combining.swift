/// A junction whose inputs have values of several types; `begin`, which attaches them, and `build` know these.
///
/// `@unchecked Sendable`: its own members are constants that only the drain uses which runs the junction; ``Origin`` proves
/// that there is one at a time.
private class Gathering<Output: Sendable, Failure: Error>: Junction, @unchecked Sendable {
  final let inputs: [AnyInput]
  /// Makes a value of the inputs' values.
  final let build: () -> Output
  private let begin: (Junction) -> Void

  init(
    _ stage: Stage, _ inputs: [AnyInput], begin: @escaping (Junction) -> Void,
    build: @escaping () -> Output
  ) {
    self.inputs = inputs
    self.begin = begin
    self.build = build
    super.init(stage)
  }

  final override func start() {
    if inputs.isEmpty { finish(Completion<Failure>.finished) } else { begin(self) }
  }
}

/// A junction that publishes the values of its inputs together. Sendable as every ``Origin`` is.
private final class Zip<Output: Sendable, Failure: Error>:
  Gathering<Output, Failure>, @unchecked Sendable
{
  override func proceed() {
    while isOpen, inputs.allSatisfy({ $0.isFull }) {
      emit(build())
      for input in inputs where input.isComplete { end(of: input) }
    }
  }

  override func complete(from input: AnyInput) { input.passEnd(to: self) }
}

/// A junction that publishes the latest values of its inputs. Sendable as every ``Origin`` is.
private final class CombineLatest<Output: Sendable, Failure: Error>:
  Gathering<Output, Failure>, @unchecked Sendable
{
  /// The inputs without a value so far.
  private lazy var missing = Set(inputs.map { ObjectIdentifier($0) })
  private var waiting = Fifo<AnyInput>()

  override func receive(from input: AnyInput) {
    // Until all have a value, nothing is published and nothing has to wait.
    guard missing.count > 1 || (missing.count == 1 && !missing.contains(ObjectIdentifier(input)))
    else { return waiting.append(input) }
    missing.remove(ObjectIdentifier(input))
    input.advance()
    if input.isComplete { end(of: input) }
  }

  override func proceed() {
    while isOpen, let input = waiting.popFirst() {
      missing.remove(ObjectIdentifier(input))
      input.advance()
      if missing.isEmpty { emit(build()) }
      if input.isComplete { end(of: input) }
    }
  }

  override func complete(from input: AnyInput) {
    if input.hasFailed || inputCount == 0 || missing.contains(ObjectIdentifier(input)) {
      input.passEnd(to: self)
    }
  }
}

/// A junction that reacts to a second stream, which cannot fail and whose end is not important. Sendable as every
/// ``Origin`` is.
private final class Beside<Output: Sendable, Other: Sendable, NewOutput: Sendable, Failure: Error>:
  Junction, @unchecked Sendable
{
  enum Role {
    /// Publishes each value with the latest one of the other stream.
    case combine((Output, Other) -> NewOutput)
    /// Publishes the latest value when the other stream has one.
    case sample((Output) -> NewOutput)
    /// Publishes all values until the other stream has one.
    case pass((Output) -> NewOutput)
  }

  private let source: Publisher<Output, Failure>
  private let other: Publisher<Other, Never>
  private let role: Role
  private let main = Input<Output, Failure>()
  private let side = Input<Other, Never>()
  private var latest: Output?
  private var isDue = false

  init(
    _ stage: Stage, _ source: Publisher<Output, Failure>, _ other: Publisher<Other, Never>,
    _ role: Role
  ) {
    self.source = source
    self.other = other
    self.role = role
    super.init(stage)
  }

  override func start() {
    attach(side, to: other)
    attach(main, to: source)
  }

  override func receive(from input: AnyInput) {
    if input === side {
      side.advance()
      switch role {
      case .combine: break
      case .sample: isDue = latest != nil
      case .pass: return finish(Completion<Failure>.finished)
      }
      if side.isComplete { end(of: side) }
    } else if case .sample = role {
      latest = main.take()
      if main.isComplete { end(of: main) }
    }
  }

  override func proceed() {
    switch role {
    case .sample(let make):
      guard isOpen, isDue, let value = latest.take() else { return }
      isDue = false
      emit(make(value))
    case .combine(let make):
      while main.isFull, !isEnded {
        guard let other = side.latest else {
          _ = main.take()
          if main.isComplete { end(of: main) }
          continue
        }
        guard isOpen else { return }
        emit(make(main.take(), other))
        if main.isComplete { end(of: main) }
      }
    case .pass(let make):
      guard isOpen, main.isFull else { return }
      emit(make(main.take()))
      if main.isComplete { end(of: main) }
    }
  }

  override func complete(from input: AnyInput) {
    if input === main { input.passEnd(to: self) }
  }
}

/// Operators that combine the values of several streams. The first failure ends the result and cancels all others.
extension Publisher {
  /// Publishes the first values of all `inputs` as a tuple, then the second ones, and so on. Finishes when an input has
  /// finished whose values are all used; at once if there are no inputs.
  ///
  /// Keeps one value for each input, which is not asked for more before that is used.
  public static func zip<each Input>(
    _ inputs: repeat Publisher<each Input, Failure>
  ) -> Publisher where Output == (repeat each Input) {
    Publisher(source: { stage in
      let ends = (repeat WeftFutures.Input<each Input, Failure>())
      var all: [AnyInput] = []
      for end in repeat each ends { all.append(end) }
      return Zip<Output, Failure>(stage, all) { junction in
        for (end, input) in repeat (each ends, each inputs) { junction.attach(end, to: input) }
      } build: {
        (repeat (each ends).take())
      }
    })
  }

  /// Publishes the latest values of all `inputs` as a tuple, each time an input has a value, and as soon as all have.
  /// Finishes when all have finished, or one without a value; at once if there are no inputs.
  ///
  /// Keeps the latest value of each input and one more that waits for the subscriber, so no combination is skipped.
  public static func combineLatest<each Input>(
    _ inputs: repeat Publisher<each Input, Failure>
  ) -> Publisher where Output == (repeat each Input) {
    Publisher(source: { stage in
      let ends = (repeat WeftFutures.Input<each Input, Failure>())
      var all: [AnyInput] = []
      for end in repeat each ends { all.append(end) }
      return CombineLatest<Output, Failure>(stage, all) { junction in
        for (end, input) in repeat (each ends, each inputs) { junction.attach(end, to: input) }
      } build: {
        (repeat (each ends).known)
      }
    })
  }

  /// Publishes pairs of values, as the variant for any number of inputs.
  public func zip<Other>(
    _ other: Publisher<Other, Failure>
  ) -> Publisher<(Output, Other), Failure> {
    .zip(self, other)
  }

  /// Publishes pairs of latest values, as the variant for any number of inputs.
  public func combineLatest<Other>(
    _ other: Publisher<Other, Failure>
  ) -> Publisher<(Output, Other), Failure> {
    .combineLatest(self, other)
  }

  /// Publishes each value together with the latest of `other`. Values before the first of `other` are dropped. Ends with
  /// this publisher.
  ///
  /// Keeps one value, and the latest of `other`, which is always asked for more.
  public func withLatestFrom<Other>(
    _ other: Publisher<Other, Never>
  ) -> Publisher<(Output, Other), Failure> {
    Publisher<(Output, Other), Failure>(source: { stage in
      Beside(stage, self, other, .combine { ($0, $1) })
    })
  }

  /// Publishes the latest value, if there is a new one, each time `trigger` has a value. Ends with this publisher; a value
  /// that waits then is dropped.
  ///
  /// Keeps the latest value. Both publishers are always asked for more.
  public func sample<Trigger>(on trigger: Publisher<Trigger, Never>) -> Publisher {
    Publisher(source: {
      Beside<Output, Trigger, Output, Failure>($0, self, trigger, .sample { $0 })
    })
  }

  /// Publishes the latest value, if there is a new one, every `interval` of `clock`, which must be positive. Otherwise as
  /// ``sample(on:)``.
  public func sample(
    every interval: Duration, clock: any Clock<Duration> = .continuous
  ) -> Publisher {
    sample(on: .timer(every: interval, clock: clock))
  }

  /// Publishes all values until `other` has one, then finishes and cancels both. Keeps one value.
  public func prefix<Other>(untilOutputFrom other: Publisher<Other, Never>) -> Publisher {
    Publisher(source: {
      Beside<Output, Other, Output, Failure>($0, self, other, .pass { $0 })
    })
  }
}

extension Input {
  /// The latest value, which must be there.
  fileprivate var known: Value {
    guard let latest else { preconditionFailure("an input without a value was combined") }
    return latest
  }
}
