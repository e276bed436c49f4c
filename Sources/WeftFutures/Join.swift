import Synchronization

/// A cell that waits for several others.
final class Join<Value: Sendable, Failure: Error>: Cell<Value, Failure>, @unchecked Sendable {
  /// What becomes of an input's outcome: the outcome of the whole, or nil to wait for the others.
  typealias Verdict<Input, InputFailure: Error> =
    @Sendable (Result<Input, InputFailure>) -> Result<Value, Failure>?

  private var inputs: [AnyCell]
  private let undecided: Atomic<Int>
  /// Called once every input has settled and none has decided. Touched by that last input and by the
  /// one that has settled the join; these are the same if there is a last one at all, because an
  /// input that decides does not count.
  private var conclude: (@Sendable () -> Result<Value, Failure>)?

  init(_ inputs: [AnyCell], conclude: @escaping @Sendable () -> Result<Value, Failure>) {
    self.inputs = inputs
    self.undecided = Atomic(inputs.count)
    self.conclude = conclude
    super.init(.pending)
  }

  override var upstream: Upstream { .all(inputs) }

  override func forgetUpstream() { inputs = [] }

  /// Every input has to be counted before the first is listened to: that one may fail at once, and the
  /// join then withdraws from all.
  func start(_ ready: Ready, listen: (Ready) -> Void) {
    for input in inputs { input.addInterest(ready) }
    listen(ready)
  }

  func listen<Input, InputFailure>(
    to input: Future<Input, InputFailure>, _ ready: Ready,
    _ verdict: @escaping Verdict<Input, InputFailure>
  ) {
    input.cell.enqueue(JoinInput(input.cell, of: self, verdict), ready)
  }

  /// No input is left that could decide.
  func settleUndecided(_ ready: Ready) {
    guard let conclude = conclude.take() else { preconditionFailure("concluded twice") }
    settle(conclude(), ready)
  }

  fileprivate func hear(_ verdict: Result<Value, Failure>?, _ ready: Ready) {
    guard let verdict else {
      let before = undecided.wrappingSubtract(1, ordering: .acquiringAndReleasing).oldValue
      if before == 1 { settleUndecided(ready) }
      return
    }
    guard let released = settle(verdict, ready) else { return }
    conclude = nil
    if case .all(let inputs) = released {
      for input in inputs.reversed() { ready.withdraw(from: input) }
    }
  }
}

/// The entry of a join in the list of one of its inputs.
private final class JoinInput<
  Input: Sendable, InputFailure: Error, Value: Sendable, Failure: Error
>:
  Waiter, @unchecked Sendable
{
  private let join: Join<Value, Failure>
  private let verdict: Join<Value, Failure>.Verdict<Input, InputFailure>

  init(
    _ source: Cell<Input, InputFailure>, of join: Join<Value, Failure>,
    _ verdict: @escaping Join<Value, Failure>.Verdict<Input, InputFailure>
  ) {
    self.join = join
    self.verdict = verdict
    super.init(source: source)
  }

  override func run(_ ready: Ready) {
    guard let source,
      let outcome = unsafeDowncast(source, to: Cell<Input, InputFailure>.self).outcome
    else { preconditionFailure("an input was heard before it had settled") }
    join.hear(verdict(outcome), ready)
  }
}
