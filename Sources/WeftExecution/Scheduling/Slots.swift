import Synchronization
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Hands out job slots as futures: what ``SlotQueue`` decides becomes the settling of promises.
final class Slots: Sendable {
  enum Answer: Sendable {
    /// The step holds a slot until it is released.
    case granted
    /// The step waited when its turn was called off.
    case refused
  }

  /// What is to be done once the lock is released.
  private struct Deeds {
    var granted: [Promise<Answer, Never>] = []
    /// Into each a token is to be put.
    var lent: [TokenPipe] = []
    /// To be put back into the pipe above.
    var returned: [UInt8] = []
    var above: TokenPipe?
    var wantsTokens = false
  }

  private struct State {
    var queue: SlotQueue
    var tokens: TokenAccounts<TokenPipe>
    var promises: [Int: Promise<Answer, Never>] = [:]
    /// Whether a grant is on its way that will see new requests, too.
    var grantIsComing = false

    mutating func takePromises(of steps: [Int]) -> [Promise<Answer, Never>] {
      steps.map { promises.removeValue(forKey: $0)! }
    }

    /// Gives away what is free, first of all to those who wait.
    mutating func serve() -> Deeds {
      grantIsComing = false
      let granted = takePromises(of: queue.grant())
      guard tokens.joined != nil || !tokens.lendings.isEmpty else { return Deeds(granted: granted) }
      var deeds = exchange()
      deeds.granted = granted
      return deeds
    }

    /// What nobody waits for goes to the tools of steps, then to the pipe above.
    mutating func exchange() -> Deeds {
      var deeds = Deeds()
      deeds.lent = tokens.lendFree(&queue)
      deeds.returned = tokens.returnSurplus(&queue)
      deeds.above = tokens.joined?.pipe
      deeds.wantsTokens = !tokens.wanted(&queue).isEmpty
      return deeds
    }
  }

  private let state: Mutex<State>
  /// `nil` where no tokens are exchanged.
  private let exchange: TokenExchange?

  /// - Parameter joined: Where further slots come from, beside the one that the run has; then
  ///   `maxParallel` is how many it may have in all.
  init(plan: Plan, maxParallel: Int, joined: TokenPipe? = nil) {
    var queue = SlotQueue(plan: plan, slots: maxParallel)
    let exchanges = joined != nil || plan.offersJobservers
    exchange = exchanges ? try? TokenExchange() : nil
    var tokens = TokenAccounts<TokenPipe>()
    if let joined {
      for _ in 1..<maxParallel { _ = queue.removeFreeSlot() }
      tokens.joined = TokenAccounts.Joined(pipe: joined, slotLimit: maxParallel)
    }
    state = Mutex(State(queue: queue, tokens: tokens))
  }

  /// Waits for a slot of the run and of every limited group around the step.
  ///
  /// It is not given before everything that became ready together is waiting, so that the best of all
  /// comes first and not the first of all.
  func acquire(_ step: Int) -> Future<Answer, Never> {
    let promise = Promise<Answer, Never>(ifDropped: .success(.refused))
    let isFirst = state.withLock { state in
      state.promises[step] = promise
      state.queue.request(step)
      defer { state.grantIsComing = true }
      return !state.grantIsComing
    }
    if isFirst { afterwards { [self] in grant() } }
    return promise.future
  }

  /// Gives a step's slots back, once everything that its end has made ready is waiting too.
  func release(_ step: Int) {
    afterwards { [self] in
      state.withLock { $0.queue.release(step) }
      grant()
    }
  }

  /// Turns away the steps of a range that are waiting.
  func refuse(_ range: Range<Int>) {
    let refused = state.withLock { state in
      let waiting = state.queue.waiting(in: range)
      for step in waiting { state.queue.withdraw(step) }
      return state.takePromises(of: waiting)
    }
    for promise in refused { promise.succeed(.refused) }
    grant()
  }

  private func grant() { act(state.withLock { $0.serve() }) }

  private func act(_ deeds: Deeds) {
    for token in deeds.returned { deeds.above?.put(token) }
    for pipe in deeds.lent { pipe.put(TokenPipe.token) }
    if deeds.wantsTokens { exchange?.look(for: self) }
    for promise in deeds.granted { promise.succeed(.granted) }
  }
}

// MARK: Tokens

extension Slots {
  /// Lets the tools of a step have free slots as tokens, from now until `endLending`.
  func beginLending(to step: Int, through pipe: TokenPipe) {
    // Without somebody who takes them back, they would be gone until the step's end.
    guard exchange != nil else { return }
    act(
      state.withLock { state in
        state.tokens.beginLending(to: step, through: pipe)
        // Nothing is granted here: what is granted follows on this thread, which is about to be blocked.
        return state.grantIsComing ? Deeds() : state.exchange()
      })
  }

  func endLending(to step: Int) {
    act(
      state.withLock { state in
        state.tokens.endLending(to: step, &state.queue)
        return state.serve()
      })
  }

  func wantedTokens() -> [(source: TokenAccounts<TokenPipe>.Source, pipe: TokenPipe)] {
    state.withLock { $0.tokens.wanted(&$0.queue) }
  }

  func receive(_ token: UInt8, from source: TokenAccounts<TokenPipe>.Source) {
    act(
      state.withLock { state in
        state.tokens.received(token, from: source, &state.queue)
        return state.serve()
      })
  }

  /// Gives back every token that is held, also of steps that run. Nothing is exchanged any more.
  func close() {
    exchange?.close()
    let (tokens, above) = state.withLock { ($0.tokens.abandon(), $0.tokens.joined?.pipe) }
    for token in tokens { above?.put(token) }
  }
}

extension Plan {
  /// Whether any step is to have a jobserver.
  var offersJobservers: Bool {
    steps.contains { $0.command?.usesJobserver == true || $0.step.computed[.jobserver] != nil }
  }
}

extension SlotQueue {
  /// The limits of a plan: one for each group with `maxParallel`, beside the run's own.
  init(plan: Plan, slots: Int) {
    var limitOfGroup: [Int: Int] = [:]
    var sizes: [Int] = []
    for (index, group) in plan.groups.enumerated().dropFirst() {
      guard let size = group.maxParallel else { continue }
      limitOfGroup[index] = sizes.count
      sizes.append(size)
    }
    self.init(
      slots: slots, groupLimits: sizes,
      chains: plan.groups.indices.map { group in
        plan.enclosingGroups(ofGroup: group).compactMap { limitOfGroup[$0] }
      },
      steps: plan.steps.map { (plan.stepsBelow[$0.node], Int32($0.group)) })
  }
}
