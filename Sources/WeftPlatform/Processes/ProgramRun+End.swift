import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Ending what a program has started, and then the program.
extension ProgramRun {
  private var enclosure: (any Enclosure)? { program.enclosure }

  /// Sends a signal to the leader's group, unless its id may be another's: the leader is reaped last, but in a
  /// host that reaps all of its children it may be gone before.
  private mutating func signalGroup(_ signal: Signal) {
    if holdsLeader() { kill(-leader, signal.rawValue) }
  }

  mutating func terminate() {
    // Looked for first: who loses its parents by the signal could not be told from a stranger's child.
    let outsiders = enclosure?.members(besides: leader).filter { $0.group != leader } ?? []
    signalGroup(program.stopPolicy.signal)
    signalGroup(.continue)
    for process in outsiders {
      process.send(program.stopPolicy.signal, if: enclosure?.holds(process) == true)
      process.send(.continue, if: enclosure?.holds(process) == true)
    }
  }

  mutating func killAll(_ scope: Ending.Scope) {
    signalGroup(.kill)
    if scope == .everything { enclosure?.killAll(besides: leader) }
  }

  mutating func look(at scope: Ending.Scope) {
    looks += 1
    let isAnyoneLeft = findOthers(scope)
    if isAnyoneLeft, ending.hasKilled { killAll(scope) }
    ending.othersSeen(areGone: !isAnyoneLeft, at: MonotonicClock.now)
  }

  /// Whether anyone is left; who, is in `found`, where that was worth a search.
  private mutating func findOthers(_ scope: Ending.Scope) -> Bool {
    if let enclosure, enclosure.isKnownToBeEmpty { return false }
    guard scope == .everything, let enclosure else { return findGroup() }
    found = enclosure.members(besides: leader)
    // One look may miss who is started during it.
    if found.isEmpty { found = enclosure.members(besides: leader) }
    noteLeftovers()
    return !found.isEmpty
  }

  /// Most groups are empty, and that is cheap to see. Whether others are more than zombies which nobody
  /// reaps takes a walk over all processes: at once where they are leftovers to be reported, otherwise
  /// after they had a moment to go.
  private mutating func findGroup() -> Bool {
    guard holdsLeader(), weft_group_has_others(leader) != 0 else { return false }
    guard ending.cause == nil && looks == 1 || looks > 3 else { return true }
    found = ProcessTable.shared.members(ofGroup: leader)
    noteLeftovers()
    return !found.isEmpty
  }

  private mutating func noteLeftovers() {
    if ending.cause == nil, !ending.hasKilled { leftovers = found.map(\.record) }
  }

  mutating func reap() -> ProgramEnd {
    // For those that `weft_group_has_others` may have missed.
    if !program.keepsLeftovers { signalGroup(.kill) }
    RunningGroups.shared.remove(leader)
    program.terminal?.programEnded()
    let keepsRest = program.keepsLeftovers && ending.endedWell
    let keptRest = keepsRest && enclosure?.isKnownToBeEmpty != true
    enclosure?.ended(leader: leader, keepsRest: keepsRest)
    var status: Int32 = 0
    var usage = rusage()
    var isReaped = false
    ChildProcesses.reap(leader) {
      isReaped = (try? retrying { wait4(leader, &status, 0, &usage) }) != nil
    }
    // Those that were killed are zombies of this process, if they are anyone's: each holds an id.
    if ending.hasKilled { ChildProcesses.reapAdopted() }
    return ProgramEnd(
      status: isLost || !isReaped ? .lost : ProgramEnd.Status(waitStatus: status),
      stopped: ending.cause,
      neededKill: ending.neededKill, leftovers: leftovers,
      survivors: ending.gaveUp ? found.map(\.record) : [],
      keptRest: keptRest, outputWasHeld: ending.outputWasHeld,
      usage: ResourceUsage(usage), duration: MonotonicClock.now - begin)
  }
}
