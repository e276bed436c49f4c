import Synchronization

/// The end of a pipeline whose values a task takes one by one.
final class Outbox<Output: Sendable, Failure: Error>: Sendable {
  typealias Next = Result<Output?, Failure>

  private struct State {
    var buffer: Buffer<Output>
    var completion: Completion<Failure>?
    var reader: CheckedContinuation<Next, Never>?
    var hasStarted = false
    /// Whether the source waits until a value is taken.
    var isHoldingBack = false
    var isOver = false

    /// The value or end for a reader; `nil` if it has to wait.
    mutating func takeNext() -> Next? {
      if let value = buffer.popFirst() { return .success(value) }
      if isOver { return .success(nil) }
      switch completion {
      case nil: return nil
      case .finished: isOver = true
      case .failure(let failure):
        isOver = true
        return .failure(failure)
      }
      return .success(nil)
    }
  }

  private let publisher: Publisher<Output, Failure>
  private let terminal = Terminal()
  private let state: Mutex<State>

  init(_ publisher: Publisher<Output, Failure>, _ policy: BufferPolicy) {
    self.publisher = publisher
    state = Mutex(State(buffer: Buffer(policy)))
  }

  // The stage has a weak reference, so an iterator that is released ends its subscription.
  deinit { terminal.cancel() }

  func next(isolation actor: isolated (any Actor)?) async -> Next {
    if Task.isCancelled { cancel() }
    let isFirst = state.withLock { state in
      defer { state.hasStarted = true }
      return !state.hasStarted && !state.isOver
    }
    if isFirst { subscribe() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { reader in
        let (answer, isFree) = state.withLock { state -> (Next?, Bool) in
          precondition(state.reader == nil, "an iterator was used by two tasks at a time")
          guard let answer = state.takeNext() else {
            state.reader = reader
            return (nil, false)
          }
          let isFree = state.isHoldingBack && !state.buffer.isFull
          if isFree { state.isHoldingBack = false }
          return (answer, isFree)
        }
        if isFree { terminal.request() }
        if let answer { reader.resume(returning: answer) }
      }
    } onCancel: {
      cancel()
    }
  }

  private func subscribe() {
    let stage = Stage { [weak self] in
      self?.receive($0.value()) ?? .ended
    } complete: { [weak self] in
      self?.complete(Completion($0))
    }
    terminal.start(publisher.node, stage)
  }

  private func receive(_ value: Output) -> Demand {
    let (demand, reader, dropped) = state.withLock {
      state -> (Demand, CheckedContinuation<Next, Never>?, Output?) in
      guard !state.isOver else { return (.ended, nil, value) }
      if let reader = state.reader.take() { return (.more, reader, nil) }
      var dropped: Output?
      if case .dropped(let value) = state.buffer.append(value) { dropped = value }
      guard case .bounded = state.buffer.policy, state.buffer.isFull else {
        return (.more, nil, dropped)
      }
      state.isHoldingBack = true
      return (.wait, nil, dropped)
    }
    withExtendedLifetime(dropped) {}
    reader?.resume(returning: .success(value))
    return demand
  }

  private func complete(_ completion: Completion<Failure>) {
    terminal.finish()
    let (reader, answer) = state.withLock { state -> (CheckedContinuation<Next, Never>?, Next?) in
      guard !state.isOver else { return (nil, nil) }
      state.completion = completion
      guard let reader = state.reader.take() else { return (nil, nil) }
      return (reader, state.takeNext())
    }
    if let reader, let answer { reader.resume(returning: answer) }
  }

  private func cancel() {
    terminal.cancel()
    let (reader, left) = state.withLock { state in
      let left = state.buffer
      state.isOver = true
      state.buffer = Buffer(left.policy)
      return (state.reader.take(), left)
    }
    withExtendedLifetime(left) {}
    reader?.resume(returning: .success(nil))
  }
}
