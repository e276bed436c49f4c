import Synchronization
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Hands out job slots as futures: what ``SlotQueue`` decides settles them.
final class Slots: Sendable {
  enum Answer: Sendable {
    /// The step holds a slot until it is released.
    case granted
    /// The step waited when its turn was called off.
    case refused
  }

  /// What is to be done once the lock is released.
  private struct Deeds {
    /// Mostly there is but one: what one gives back, another gets.
    var granted: Future<Answer, Never>?
    var othersGranted: [Future<Answer, Never>] = []
    /// Into each a token is to be put.
    var lent: [TokenPipe] = []
    /// To be put back into the pipe above.
    var returned: [UInt8] = []
    var above: TokenPipe?
    var wantsTokens = false
    /// When to serve again, though nothing is given back.
    var alarm: Duration?
  }

  private struct State {
    var queue: SlotQueue
    var tokens: TokenAccounts<TokenPipe>
    /// By step: of those that wait.
    var answers: [Future<Answer, Never>?] = []
    /// Steps that wait again while what they held is still to be given back.
    var comingBack: Set<Int> = []
    /// Steps that hold what they need, and wait until the rates of their pools allow another request; by age.
    var turns: [(step: Int, answer: Future<Answer, Never>)] = []
    /// Whether a grant is on its way that will see new requests, too.
    var grantIsComing = false
    /// When the next timer goes off.
    var alarm: Duration?
    var timer: TimerToken?
    var isClosed = false

    mutating func keep(_ answer: Future<Answer, Never>, of step: Int) {
      if step >= answers.count {
        answers.append(contentsOf: repeatElement(nil, count: queue.records.count - answers.count))
      }
      answers[step] = answer
    }

    mutating func takeAnswer(of step: Int) -> Future<Answer, Never> {
      guard let answer = answers[step].take() else {
        preconditionFailure("step \(step) waits for no answer")
      }
      return answer
    }

    /// Gives away what is free, first of all to those who wait.
    mutating func serve(at now: Duration, _ deeds: inout Deeds) {
      grantIsComing = false
      // Before those that wait: what holds slots is to end, and give them back.
      let nextTurn = turns.isEmpty ? nil : giveTurns(at: now, &deeds)
      queue.beginGranting(at: now)
      while let step = queue.grantNext(at: now) {
        let answer = takeAnswer(of: step)
        if deeds.granted == nil {
          deeds.granted = answer
        } else {
          deeds.othersGranted.append(answer)
        }
      }
      deeds.alarm = nextAlarm(nextTurn)
      if tokens.joined != nil || !tokens.lendings.isEmpty { exchange(&deeds) }
    }

    /// - Returns: When the next of those turns comes that are not given now.
    private mutating func giveTurns(at now: Duration, _ deeds: inout Deeds) -> Duration? {
      var blocked: Set<Int> = []
      var next: Duration?
      turns.removeAll { turn in
        switch queue.pools.takeRate(ofLine: queue.line(of: turn.step), at: now, &blocked) {
        case .servable:
          deeds.othersGranted.append(turn.answer)
          return true
        case .lacking(let time):
          if let time { next = min(next ?? time, time) }
          return false
        }
      }
      return next
    }

    /// When a timer is to be set; `nil` if none is, or one goes off in time.
    private mutating func nextAlarm(_ nextTurn: Duration?) -> Duration? {
      let times = [queue.comeBackAt, nextTurn].compactMap(\.self)
      guard let time = times.min(), !isClosed, alarm.map({ time < $0 }) ?? true else {
        return nil
      }
      alarm = time
      return time
    }

    /// What nobody waits for goes to the tools of steps, then to the pipe above.
    mutating func exchange(_ deeds: inout Deeds) {
      deeds.lent = tokens.lendFree(&queue)
      deeds.returned = tokens.returnSurplus(&queue)
      deeds.above = tokens.joined?.pipe
      deeds.wantsTokens = !tokens.wanted(&queue).isEmpty
    }
  }

  private let state: Mutex<State>
  private let time: any TimeSource
  /// Whether time matters to who is served.
  private let hasRates: Bool
  /// `nil` where no tokens are exchanged.
  private let exchange: TokenExchange?

  /// - Parameter joined: Where further slots come from, beside the one that the run has; then
  ///   `maxParallel` is how many it may have in all.
  init(plan: Plan, maxParallel: Int, joined: TokenPipe? = nil, time: any TimeSource) {
    self.time = time
    var queue = SlotQueue(plan: plan, slots: maxParallel, at: time.now)
    hasRates = queue.pools.haveRates
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
    let answer = Future<Answer, Never>.owed()
    let isFirst = state.withLock { state in
      state.keep(answer, of: step)
      // What its last attempt held is still on its way back if the next one follows at once.
      if state.queue.isHolding(step) {
        state.comingBack.insert(step)
        return false
      }
      state.queue.request(step)
      defer { state.grantIsComing = true }
      return !state.grantIsComing
    }
    if isFirst { afterwards(self, Slots.serving) }
    return answer
  }

  /// Gives a step's slots back, once everything that its end has made ready is waiting too.
  ///
  /// - Parameter unused: Whether the step did not begin with them after all.
  func release(_ step: Int, unused: Bool = false) {
    // Who asks meanwhile is served with what is given back here, so that it does not go before its turn.
    let turn = state.withLock { state -> Future<Answer, Never>? in
      state.grantIsComing = true
      guard let index = state.turns.firstIndex(where: { $0.step == step }) else { return nil }
      return state.turns.remove(at: index).answer
    }
    turn?.give(.refused)
    afterwards(self, step << 1 | (unused ? 1 : 0))
  }

  /// Waits until a step may do again what the rates of its pools count, as a request that follows from its first.
  ///
  /// - Returns: `nil` if it need not wait, since none of its pools has a rate.
  func anotherTurn(of step: Int) -> Future<Answer, Never>? {
    guard hasRates else { return nil }
    let answer = Future<Answer, Never>.owed()
    var deeds = Deeds()
    let now = time.now
    let isCounted = state.withLock { state in
      guard state.queue.hasRate(step) else { return false }
      state.turns.append((step, answer))
      state.serve(at: now, &deeds)
      return true
    }
    guard isCounted else { return nil }
    act(deeds)
    return answer
  }

  /// What nobody holds: of the run's slots, and of each pool's.
  func free(ofPools count: Int) -> (run: Int, pools: [Int]) {
    state.withLock { state in
      (state.queue.free, (0..<count).map { state.queue.pools.free(ofPool: $0) })
    }
  }

  /// Whether anybody waits for a slot.
  var areWanted: Bool { state.withLock { $0.queue.waitingCount > 0 } }

  /// Those that wait for a slot.
  func waiting() -> [Int] {
    state.withLock { state in
      state.queue.records.indices.filter { state.queue.records[$0].position == .waiting }
    }
  }

  /// Turns away those of the steps that are waiting. Those that ask again at once, because they go on all the
  /// same, are served as if they had waited on.
  func refuse(_ steps: some Sequence<Int> & Sendable) {
    let refused = state.withLock { state in
      state.grantIsComing = true
      return steps.filter { state.queue.withdraw($0) }.map { state.takeAnswer(of: $0) }
    }
    for answer in refused { answer.give(.refused) }
    afterwards(self, Slots.serving)
  }

  private func grant() { serve(at: now) { _ in } }

  /// Gives away what is free after something has changed.
  private func serve(at now: Duration, after change: (inout State) -> Void) {
    var deeds = Deeds()
    state.withLock { state in
      change(&state)
      state.serve(at: now, &deeds)
    }
    act(deeds)
  }

  private var now: Duration { hasRates ? time.now : .zero }

  private func act(_ deeds: Deeds) {
    if let alarm = deeds.alarm { setTimer(for: alarm) }
    for token in deeds.returned { deeds.above?.put(token) }
    for pipe in deeds.lent { pipe.put(TokenPipe.token) }
    if deeds.wantsTokens { exchange?.look(for: self) }
    deeds.granted?.give(.granted)
    for answer in deeds.othersGranted { answer.give(.granted) }
  }
}

// MARK: Afterwards

extension Slots: Postponing {
  /// What is postponed: to serve, or to take back first what a step held.
  private static let serving = -1

  func doPostponed(_ what: Int) {
    guard what != Slots.serving else { return grant() }
    let (step, isUnused) = (what >> 1, what & 1 == 1)
    serve(at: now) { state in
      state.queue.release(step, unused: isUnused)
      // Mostly there are none, and even then to look for one takes a hash.
      if !state.comingBack.isEmpty, state.comingBack.remove(step) != nil {
        state.queue.request(step)
      }
    }
  }
}

// MARK: Elements

extension Slots {
  /// Numbers for instances of steps, in a row; by them they acquire and release.
  func seat(_ copies: [SlotQueue.Copy]) -> Range<Int> { state.withLock { $0.queue.seat(copies) } }

  /// The instances have ended, and so have these limits. What of them is still to be released may come
  /// later.
  func unseat(_ row: Range<Int>, limits: [Int] = []) {
    state.withLock { $0.queue.unseat(row, limits: limits) }
  }

  /// A limit for one instance of a group with `maxParallel`.
  func addLimit(slots: Int, inside outer: Int?) -> Int {
    state.withLock { $0.queue.addLimit(slots: slots, inside: outer) }
  }

  /// The innermost limit around a step, or around an instance of one.
  func limit(around step: Int) -> Int? { state.withLock { $0.queue.limit(around: step) } }
}

// MARK: Time

extension Slots {
  private func setTimer(for moment: Duration) {
    let timer = time.schedule(after: moment - time.now) { [self] in alarm(of: moment) }
    // A timer that another has overtaken goes off for nothing, or not at all.
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
    var deeds = Deeds()
    state.withLock { state in
      guard state.alarm == moment, !state.isClosed else { return }
      state.alarm = nil
      state.serve(at: time.now, &deeds)
    }
    act(deeds)
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
        var deeds = Deeds()
        if !state.grantIsComing { state.exchange(&deeds) }
        return deeds
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

  /// Gives back every token that is held, also of steps that run. Nothing is exchanged any more, and nobody
  /// is served because of the time.
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
    // By index: without a copy of each.
    steps.indices.contains { steps[$0].mayOfferJobserver }
  }
}
