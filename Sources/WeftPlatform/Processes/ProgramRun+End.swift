import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Termination of the processes that a program has started, and then of the program.
extension ProgramRun {
  private var enclosure: (any Enclosure)? { program.enclosure }

  /// Sends a signal to the leader's group, unless its id may have been reused: the leader is reaped last, but a host
  /// that reaps all of its children may have done so earlier.
  private mutating func signalGroup(_ signal: Signal) {
    if holdsLeader() { kill(-leader, signal.rawValue) }
  }

  mutating func terminate() {
    // Found before the signal: a process that loses its parents through it could not be distinguished from an unrelated
    // one.
    let outsiders = enclosure?.members(besides: leader).filter { $0.group != leader } ?? []
    signalGroup(program.stopPolicy.signal)
    signalGroup(.continue)
    asked = []
    ask(outsiders)
  }

  /// Asks processes outside the leader's group to end, each once.
  private mutating func ask(_ outsiders: [ProcessStatus]) {
    for process in outsiders where asked?.insert(process.identity).inserted == true {
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
    if isAnyoneLeft, ending.hasKilled {
      killAll(scope)
    } else if isAnyoneLeft {
      // A search may miss a process that is being started or loses its parent, and find it the next time.
      ask(found.filter { $0.group != leader })
    }
    ending.othersSeen(areGone: !isAnyoneLeft, at: MonotonicClock.now)
  }

  /// Whether any other process is left; `found` contains them if a search was worthwhile.
  private mutating func findOthers(_ scope: Ending.Scope) -> Bool {
    if let enclosure, enclosure.isKnownToBeEmpty { return false }
    guard scope == .everything, let enclosure else { return findGroup() }
    found = enclosure.members(besides: leader)
    // One search may miss a process that starts during it.
    if found.isEmpty { found = enclosure.members(besides: leader) }
    noteLeftovers()
    return !found.isEmpty
  }

  /// Most groups are empty, which is cheap to see. Finding out if the others are more than zombies that are not being
  /// reaped requires a walk over all processes: immediately if they are leftovers to be reported, otherwise after they
  /// have had a moment to exit.
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
    // For processes that `weft_group_has_others` may have missed.
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
    // Processes that were killed are zombies of this process, if of any, and each occupies an id.
    if ending.hasKilled { ChildProcesses.reapAdopted() }
    return ProgramEnd(
      status: isLost || !isReaped ? .lost : ProgramEnd.Status(waitStatus: status),
      stopped: ending.cause,
      neededKill: ending.neededKill, leftovers: leftovers,
      orphans: ending.gaveUp ? found.map(\.record) : [],
      keptRest: keptRest, outputWasHeld: ending.outputWasHeld,
      usage: ProgramUsage(usage), duration: MonotonicClock.now - begin)
  }
}
