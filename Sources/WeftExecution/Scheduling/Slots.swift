import Synchronization
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Hands out job slots as futures, which settle when ``SlotQueue`` decides to grant them. Exchanges tokens with
/// jobservers, and sets timers for the rates of pools.
///
/// ``RunEngine`` acquires a slot before each attempt and releases it after; executors lend slots to the tools of steps.
final class Slots: Sendable {
  enum Response: Sendable {
    /// The step holds a slot until it is released.
    case granted
    /// The request was withdrawn while the step waited.
    case refused
  }

  /// The effects to execute once the lock is released.
  private struct Effects {
    /// Mostly a single one: a slot given back goes to another step.
    var granted: Future<Response, Never>?
    var othersGranted: [Future<Response, Never>] = []
    /// Pipes into each of which a token is to be put.
    var lent: [TokenPipe] = []
    /// Tokens to be put back into the parent jobserver.
    var returned: [UInt8] = []
    var above: TokenPipe?
    var wantsTokens = false
    /// The time of the next grant that needs nothing to be given back.
    var alarm: Duration?
  }

  private struct State {
    var queue: SlotQueue
    var tokens: TokenAccounts<TokenPipe>
    /// The promised answers of waiting steps, by step.
    var answers: [Future<Response, Never>?] = []
    /// Steps that wait again before what they held has been given back.
    var requestedAgain: Set<Int> = []
    /// The demands that steps have from when what they held has been given back.
    var nextDemands: [Int: [PoolRequest]] = [:]
    /// Steps that hold their slots, and wait until the rates of their pools allow another request; the oldest first.
    var rateWaiters: [(step: Int, answer: Future<Response, Never>)] = []
    /// Whether a grant is scheduled that will see new requests too.
    var hasScheduledGrant = false
    /// The moment at which the timer fires.
    var alarm: Duration?
    var timer: TimerToken?
    var isClosed = false
    /// The number of steps whose slots are about to be given back.
    var releasingCount = 0

    mutating func keep(_ answer: Future<Response, Never>, of step: Int) {
      if step >= answers.count {
        answers.append(contentsOf: repeatElement(nil, count: queue.records.count - answers.count))
      }
      answers[step] = answer
    }

    mutating func takeAnswer(of step: Int) -> Future<Response, Never> {
      guard let answer = answers[step].take() else {
        preconditionFailure("step \(step) waits for no answer")
      }
      return answer
    }

    /// Grants what is free, to waiting steps first.
    mutating func serve(at now: Duration, _ effects: inout Effects) {
      hasScheduledGrant = false
      // Before the waiting steps: those that hold slots are to end, and give them back.
      let nextRateTime = rateWaiters.isEmpty ? nil : grantRates(at: now, &effects)
      queue.beginGranting(at: now)
      while let step = queue.grantNext(at: now) {
        let answer = takeAnswer(of: step)
        if effects.granted == nil {
          effects.granted = answer
        } else {
          effects.othersGranted.append(answer)
        }
      }
      effects.alarm = nextAlarm(nextRateTime)
      if tokens.joined != nil || !tokens.lendings.isEmpty { exchange(&effects) }
    }

    /// Lets steps continue that wait for the rates of their pools.
    ///
    /// - Returns: The moment at which the next of them may continue.
    private mutating func grantRates(at now: Duration, _ effects: inout Effects) -> Duration? {
      var blocked: Set<Int> = []
      var next: Duration?
      rateWaiters.removeAll { turn in
        switch queue.pools.takeRate(ofLine: queue.line(of: turn.step), at: now, &blocked) {
        case .servable:
          effects.othersGranted.append(turn.answer)
          return true
        case .lacking(let time):
          if let time { next = min(next ?? time, time) }
          return false
        }
      }
      return next
    }

    /// The moment at which a timer has to be set; `nil` for none, or if one fires in time.
    private mutating func nextAlarm(_ nextRateTime: Duration?) -> Duration? {
      let times = [queue.nextServableAt, nextRateTime].compactMap(\.self)
      guard let time = times.min(), !isClosed, alarm.map({ time < $0 }) ?? true else {
        return nil
      }
      alarm = time
      return time
    }

    /// Lends slots that no step waits for to the tools of steps, and returns the rest to the parent jobserver.
    mutating func exchange(_ effects: inout Effects) {
      effects.lent = tokens.lendFree(&queue)
      effects.returned = tokens.returnSurplus(&queue)
      effects.above = tokens.joined?.pipe
      effects.wantsTokens = !tokens.wanted(&queue).isEmpty
    }
  }

  private let state: Mutex<State>
  private let time: any TimeSource
  /// Whether pools have rates, so that grants depend on time.
  private let hasRates: Bool
  /// `nil` if no tokens are exchanged.
  private let exchange: TokenExchange?

  /// - Parameters:
  ///   - joined: The parent jobserver, from which all slots come but one; `maxParallel` is then the maximum in total.
  ///   - offersTokens: Whether steps run that may take slots for their tools.
  init(
    plan: Plan, maxParallel: Int, capacity: MachineCapacity? = nil,
    joined: TokenPipe? = nil, offersTokens: Bool = true, time: any TimeSource
  ) {
    self.time = time
    var queue = SlotQueue(plan: plan, slots: maxParallel, capacity: capacity, at: time.now)
    hasRates = queue.pools.haveRates
    let exchanges = joined != nil || offersTokens && plan.offersJobservers
    exchange = exchanges ? try? TokenExchange() : nil
    var tokens = TokenAccounts<TokenPipe>()
    if let joined {
      for _ in 1..<maxParallel { _ = queue.removeFreeSlot() }
      tokens.joined = TokenAccounts.Joined(pipe: joined, slotLimit: maxParallel)
    }
    state = Mutex(State(queue: queue, tokens: tokens))
  }

  /// Changes what the next attempt of a step needs of pools.
  ///
  /// - Precondition: The step waits for nothing.
  func setDemand(_ requests: [PoolRequest], of step: Int) {
    state.withLock { state in
      if state.queue.isHolding(step) {
        state.nextDemands[step] = requests
      } else {
        state.queue.setDemand(state.queue.demand(requests), of: step)
      }
    }
  }

  /// Waits for a slot of the run and of every limited group around the step.
  ///
  /// The grant is postponed until every step that became ready at the same time is waiting, so that the best gets the
  /// slot and not the first.
  func acquire(_ step: Int) -> Future<Response, Never> {
    let answer = Future<Response, Never>.unsettled()
    let isFirst = state.withLock { state in
      state.keep(answer, of: step)
      // If the next attempt follows at once, the slots of the last one are still to be given back.
      if state.queue.isHolding(step) {
        state.requestedAgain.insert(step)
        return false
      }
      state.queue.request(step)
      defer { state.hasScheduledGrant = true }
      return !state.hasScheduledGrant
    }
    if isFirst { postpone(self, Slots.serving) }
    return answer
  }

  /// Gives a step's slots back, once every step that became ready because of its end is waiting too.
  ///
  /// - Parameter unused: Whether the step did not start after all.
  func release(_ step: Int, unused: Bool = false) {
    // A request made meanwhile is served with what is given back here, so that it does not go before its turn.
    let turn = state.withLock { state -> Future<Response, Never>? in
      state.hasScheduledGrant = true
      state.releasingCount += 1
      guard let index = state.rateWaiters.firstIndex(where: { $0.step == step }) else { return nil }
      return state.rateWaiters.remove(at: index).answer
    }
    turn?.supply(.refused)
    postpone(self, step << 1 | (unused ? 1 : 0))
  }

  /// Gives back the slots of a service that is ready, except for those of pools, which it keeps until its release.
  ///
  /// They are free at once: the service may end, and be released, on another thread before postponed work is done here.
  func vacate(_ step: Int) {
    state.withLock { state in
      state.queue.vacate(step)
      state.hasScheduledGrant = true
    }
    postpone(self, Slots.serving)
  }

  /// Takes back the slot of the run of a step whose program runs elsewhere. It keeps those of groups and pools.
  func leave(_ step: Int) {
    state.withLock { state in
      state.queue.leave(step)
      state.hasScheduledGrant = true
    }
    postpone(self, Slots.serving)
  }

  /// Waits until the rates of a step's pools allow another request, one that follows from the step's first.
  ///
  /// - Returns: `nil` if none of its pools has a rate, so that it need not wait.
  func waitForRate(of step: Int) -> Future<Response, Never>? {
    guard hasRates else { return nil }
    let answer = Future<Response, Never>.unsettled()
    var effects = Effects()
    let now = time.now
    let isCounted = state.withLock { state in
      guard state.queue.hasRate(step) else { return false }
      state.rateWaiters.append((step, answer))
      state.serve(at: now, &effects)
      return true
    }
    guard isCounted else { return nil }
    act(effects)
    return answer
  }

  /// The number of free slots, of the run and of each pool.
  func free(ofPools count: Int) -> (run: Int, pools: [Int]) {
    state.withLock { state in
      (state.queue.free, (0..<count).map { state.queue.pools.free(ofPool: $0) })
    }
  }

  /// The name of a pool, or of that of a counted resource.
  func name(ofPool pool: Int) -> String {
    state.withLock { state in
      guard let known = state.queue.poolNumbers.first(where: { $0.value == pool }) else {
        preconditionFailure("there is no pool \(pool)")
      }
      return known.key
    }
  }

  /// Whether a step waits for a slot.
  var hasWaitingSteps: Bool { state.withLock { $0.queue.waitingCount > 0 } }

  /// The steps that wait for a slot.
  func waiting() -> [Int] {
    state.withLock { state in
      state.queue.records.indices.filter { state.queue.records[$0].position == .waiting }
    }
  }

  /// The thing that a step lacks which is about to wait; `nil` if it could have a slot now.
  func lack(of step: Int) -> SlotQueue.Lacking? {
    let now = now
    return state.withLock {
      $0.queue.lack(ofNext: step, at: now, returning: $0.releasingCount)
    }
  }

  /// The number of steps that wait, and the first of them in the order of their requests, each with what it lacks.
  func lacking(atMost count: Int) -> (count: Int, first: [(step: Int, lack: SlotQueue.Lacking)]) {
    let now = now
    return state.withLock { state in
      (state.queue.waitingCount, state.queue.lacking(atMost: count, at: now))
    }
  }

  /// The waiting steps that lack slots of a pool, in the order of their requests, if no running step holds a slot and all
  /// others wait only behind those; empty otherwise.
  func lackingOnlyPools() -> [(step: Int, lack: SlotQueue.Lacking)] {
    let now = now
    return state.withLock { state in
      guard state.releasingCount == 0, !state.hasScheduledGrant, state.queue.holdingCount == 0
      else { return [] }
      let found = state.queue.lacking(atMost: state.queue.waitingCount, at: now)
      let areBlocked = found.allSatisfy { _, lacking in
        if case .pool = lacking.lack { true } else { false }
      }
      return areBlocked
        ? found.filter { !state.queue.isServable($0.step, passingOthers: true) } : []
    }
  }

  /// Refuses those of the steps that are waiting. Steps that ask again at once, because they may start nevertheless,
  /// are served as if they had waited without interruption.
  func refuse(_ steps: some Sequence<Int> & Sendable) {
    let refused = state.withLock { state in
      state.hasScheduledGrant = true
      return steps.filter { state.queue.withdraw($0) }.map { state.takeAnswer(of: $0) }
    }
    for answer in refused { answer.supply(.refused) }
    postpone(self, Slots.serving)
  }

  private func grant() { serve(at: now) { _ in } }

  /// Changes the state, then grants what is free.
  private func serve(at now: Duration, after change: (inout State) -> Void) {
    var effects = Effects()
    state.withLock { state in
      change(&state)
      state.serve(at: now, &effects)
    }
    act(effects)
  }

  private var now: Duration { hasRates ? time.now : .zero }

  private func act(_ effects: Effects) {
    if let alarm = effects.alarm { setTimer(for: alarm) }
    for token in effects.returned { effects.above?.put(token) }
    for pipe in effects.lent { pipe.put(TokenPipe.token) }
    if effects.wantsTokens { exchange?.check(for: self) }
    effects.granted?.supply(.granted)
    for answer in effects.othersGranted { answer.supply(.granted) }
  }
}

// MARK: Postponed work

extension Slots: PostponedWorkOwner {
  /// The postponed work that only grants; other values say which step to release first.
  private static let serving = -1

  func runPostponed(_ what: Int) {
    guard what != Slots.serving else { return grant() }
    let (step, isUnused) = (what >> 1, what & 1 != 0)
    serve(at: now) { state in
      state.queue.release(step, unused: isUnused)
      state.releasingCount -= 1
      if !state.nextDemands.isEmpty, let requests = state.nextDemands.removeValue(forKey: step) {
        state.queue.setDemand(state.queue.demand(requests), of: step)
      }
      // The set is mostly empty, and a lookup costs a hash even then.
      if !state.requestedAgain.isEmpty, state.requestedAgain.remove(step) != nil {
        state.queue.request(step)
      }
    }
  }
}

// MARK: Elements

extension Slots {
  /// Assigns consecutive numbers to instances of steps, to acquire and release by.
  func allocate(_ copies: [SlotQueue.Copy]) -> Range<Int> {
    state.withLock { $0.queue.allocate(copies) }
  }

  /// Removes instances that have ended, and their limits. Slots that they still hold may be released later.
  func deallocate(_ row: Range<Int>, limits: [Int] = []) {
    state.withLock { $0.queue.deallocate(row, limits: limits) }
  }

  /// Adds a limit for one instance of a group with `maxParallel`.
  func addLimit(slots: Int, inside outer: Int?, of group: Int) -> Int {
    state.withLock { $0.queue.addLimit(slots: slots, inside: outer, of: group) }
  }
}

// MARK: Time

extension Slots {
  private func setTimer(for moment: Duration) {
    let timer = time.schedule(after: moment - time.now) { [self] in alarm(of: moment) }
    // A timer that an earlier one has replaced fires without effect, or not at all.
    let needless = state.withLock { state in
      guard state.alarm == moment, !state.isClosed else { return Optional(timer) }
      return exchangeTimer(timer, in: &state)
    }
    needless?.cancel()
  }

  private func exchangeTimer(_ timer: TimerToken, in state: inout State) -> TimerToken? {
    defer { state.timer = timer }
    return state.timer
  }

  private func alarm(of moment: Duration) {
    var effects = Effects()
    state.withLock { state in
      guard state.alarm == moment, !state.isClosed else { return }
      state.alarm = nil
      state.serve(at: time.now, &effects)
    }
    act(effects)
  }
}

// MARK: Tokens

extension Slots {
  /// Lets the tools of a step use free slots as tokens, until `endLending`.
  func beginLending(to step: Int, through pipe: TokenPipe) {
    // Without an exchange to take the tokens back, they would be gone until the step ends.
    guard exchange != nil else { return }
    act(
      state.withLock { state in
        state.tokens.beginLending(to: step, through: pipe)
        // Grants nothing: the granted steps would start on this thread, which is about to block.
        var effects = Effects()
        if !state.hasScheduledGrant { state.exchange(&effects) }
        return effects
      })
  }

  func endLending(to step: Int) {
    serve(at: now) { $0.tokens.endLending(to: step, &$0.queue) }
  }

  func wantedTokens() -> [(source: TokenAccounts<TokenPipe>.Source, pipe: TokenPipe)] {
    state.withLock { $0.tokens.wanted(&$0.queue) }
  }

  func receive(_ token: UInt8, from source: TokenAccounts<TokenPipe>.Source) {
    serve(at: now) { $0.tokens.received(token, from: source, &$0.queue) }
  }

  /// Returns every token, including those of running steps, and stops all exchanges and timers.
  func close() {
    exchange?.close()
    let (tokens, above, timer) = state.withLock { state in
      state.isClosed = true
      return (state.tokens.abandon(), state.tokens.joined?.pipe, state.timer.take())
    }
    timer?.cancel()
    for token in tokens { above?.put(token) }
  }
}

extension Plan {
  /// Whether any step is to have a jobserver.
  var offersJobservers: Bool {
    // By index, which avoids a copy of each.
    steps.indices.contains { steps[$0].mayOfferJobserver }
  }
}
