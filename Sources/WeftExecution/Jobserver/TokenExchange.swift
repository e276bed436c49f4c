import Synchronization
import WeftPlatform

/// The thread that takes tokens out of pipes for the run's slots, only while a step waits for a slot.
final class TokenExchange: Sendable {
  private struct State {
    var hasThread = false
    var isClosed = false
  }

  private let state = Mutex(State())
  private let watch: TokenWatch
  private let threads = ThreadPool(name: "weft-tokens")

  init() throws(SystemError) {
    watch = try TokenWatch()
  }

  /// Reports that the set of waiting steps has changed.
  func check(for slots: Slots) {
    let needsThread = state.withLock { state in
      defer { state.hasThread = true }
      return !state.hasThread && !state.isClosed
    }
    guard needsThread else { return watch.wake() }
    do {
      try threads.submit { [self] in serve(slots) }
    } catch {
      // Retried at the next change; until then the run continues with the slots that it has.
      state.withLock { $0.hasThread = false }
    }
  }

  func close() {
    state.withLock { $0.isClosed = true }
    watch.wake()
    threads.close()
  }

  private func serve(_ slots: Slots) {
    while !state.withLock({ $0.isClosed }) {
      let wanted = slots.wantedTokens()
      guard let index = watch.wait(for: wanted.map(\.pipe)) else { continue }
      guard let token = wanted[index].pipe.take() else { continue }
      slots.receive(token, from: wanted[index].source)
    }
  }
}

/// Accounts for slots that are shared: tokens taken from the enclosing jobserver, and tokens lent to the tools
/// of steps.
///
/// Decides only; callers move the bytes.
struct TokenAccounts<Pipe> {
  /// The enclosing jobserver. The run has one slot of its own, and one for each token that it holds.
  struct Joined {
    let pipe: Pipe
    /// The maximum number of slots, with the run's own.
    let slotLimit: Int
    /// In order of arrival; each token is returned unchanged.
    var held: [UInt8] = []
  }

  /// A jobserver that a step's tools take tokens from.
  struct Lending {
    let pipe: Pipe
    var lent = 0
  }

  enum Source: Hashable {
    case above
    case step(Int)
  }

  var joined: Joined?
  /// Keyed by the index of the step.
  private(set) var lendings: [Int: Lending] = [:]

  init(joined: Joined? = nil) {
    self.joined = joined
  }

  mutating func beginLending(to step: Int, through pipe: Pipe) {
    lendings[step] = Lending(pipe: pipe)
  }

  /// Ends lending when the step's program has ended: taken and untaken tokens both come back.
  mutating func endLending(to step: Int, _ queue: inout SlotQueue) {
    guard let lending = lendings.removeValue(forKey: step) else { return }
    for _ in 0..<lending.lent { queue.takeBack(from: step) }
  }

  /// Lends slots that no step waits for, evenly.
  ///
  /// - Returns: The pipes to put a token into, one entry per token.
  mutating func lendFree(_ queue: inout SlotQueue) -> [Pipe] {
    var pipes: [Pipe] = []
    var canLend = !lendings.isEmpty
    while canLend {
      canLend = false
      for step in lendings.keys.sorted() where queue.lend(to: step) {
        lendings[step]!.lent += 1
        pipes.append(lendings[step]!.pipe)
        canLend = true
      }
    }
    return pipes
  }

  /// Returns tokens that the run does not need.
  ///
  /// - Returns: The tokens to put into the enclosing jobserver's pipe.
  mutating func returnSurplus(_ queue: inout SlotQueue) -> [UInt8] {
    var tokens: [UInt8] = []
    while joined?.held.isEmpty == false, queue.removeFreeSlot() {
      tokens.append(joined!.held.removeLast())
    }
    return tokens
  }

  /// Returns every token held, even if in use, because the process is about to end.
  mutating func abandon() -> [UInt8] {
    defer { joined?.held = [] }
    return joined?.held ?? []
  }

  /// The pipes from which a token would help a waiting step.
  func wanted(_ queue: inout SlotQueue) -> [(source: Source, pipe: Pipe)] {
    var wanted: [(Source, Pipe)] = []
    if let joined, joined.held.count + 1 < joined.slotLimit, queue.lacksSlots() {
      wanted.append((.above, joined.pipe))
    }
    for (step, lending) in lendings where lending.lent > 0 && queue.lacksSlots(lentTo: step) {
      wanted.append((.step(step), lending.pipe))
    }
    return wanted
  }

  /// Records a token that was read. A token of a step that has ended meanwhile was already counted as returned.
  mutating func received(_ token: UInt8, from source: Source, _ queue: inout SlotQueue) {
    switch source {
    case .above:
      joined?.held.append(token)
      queue.addSlot()
    case .step(let step):
      guard let lent = lendings[step]?.lent, lent > 0 else { return }
      lendings[step]!.lent = lent - 1
      queue.takeBack(from: step)
    }
  }
}
