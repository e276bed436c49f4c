import WeftPlatform

/// Which slots are not the run's alone: tokens that it has taken from a jobserver above it, and tokens that
/// it has lent to the tools of its steps.
///
/// Decides only; the bytes are moved by whoever asks.
struct TokenAccounts<Pipe> {
  /// A jobserver above. The run has one slot of its own, and one for each token that it holds.
  struct Joined {
    let pipe: Pipe
    /// More than these are never taken.
    let slotLimit: Int
    /// In the order in which they came; each goes back as it is.
    var held: [UInt8] = []
  }

  /// A jobserver that a step's tool draws from.
  struct Lending {
    let pipe: Pipe
    var lent = 0
  }

  enum Source: Hashable {
    case above
    case step(Int)
  }

  var joined: Joined?
  /// By the index of the step.
  private(set) var lendings: [Int: Lending] = [:]

  init(joined: Joined? = nil) {
    self.joined = joined
  }

  mutating func beginLending(to step: Int, through pipe: Pipe) {
    lendings[step] = Lending(pipe: pipe)
  }

  /// The step's program has ended: what its tools had taken comes back with what they had not.
  mutating func endLending(to step: Int, _ queue: inout SlotQueue) {
    guard let lending = lendings.removeValue(forKey: step) else { return }
    for _ in 0..<lending.lent { queue.takeBack(from: step) }
  }

  /// Lends what nobody waits for, evenly.
  ///
  /// - Returns: The pipes into which a token is to be put, one for each.
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

  /// Gives back what nobody here has a use for.
  ///
  /// - Returns: The tokens to put into the pipe above.
  mutating func returnSurplus(_ queue: inout SlotQueue) -> [UInt8] {
    var tokens: [UInt8] = []
    while joined?.held.isEmpty == false, queue.removeFreeSlot() {
      tokens.append(joined!.held.removeLast())
    }
    return tokens
  }

  /// Every token held, whatever it is used for: the process is about to end.
  mutating func abandon() -> [UInt8] {
    defer { joined?.held = [] }
    return joined?.held ?? []
  }

  /// Where a token would help somebody who waits.
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

  /// A token has been read. One of a step that has ended meanwhile has been counted back already.
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
