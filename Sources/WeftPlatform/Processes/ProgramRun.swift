import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs a program from its start to its end, as `Ending` decides.
struct ProgramRun: ~Copyable {
  let started: StartedProgram
  private let begin: Duration
  private let program: ChildProgram
  private var streams: ProgramStreams
  private var ending: Ending
  /// Readable at the leader's exit; `nil` after it, or if the system provided none.
  private var exit: Descriptor?
  private var hasExited = false
  /// Whether the leader's exit status was taken by other code. Its id, and its group's, may then have been reused, so
  /// they get no more signals.
  private var isLost = false
  /// The processes outside the leader's group that have been asked to end; `nil` before the program is stopped.
  private var asked: Set<ProcessIdentity>?
  /// The processes that were alive when the leader had exited.
  private var leftovers: [ProcessRecord] = []
  /// The living processes found by the last search.
  private var found: [ProcessStatus] = []
  private var looks = 0

  /// - Parameter exit: The result of `weft_exit_descriptor`, even if it is an error.
  init(
    of program: ChildProgram, started: StartedProgram, exit: Int32,
    streams: consuming ProgramStreams, begin: Duration
  ) {
    self.program = program
    self.started = started
    self.streams = streams
    self.begin = begin
    ending = Ending(
      startedAt: program.countsTimeFrom ?? begin, timeout: program.timeout,
      stallTimeout: program.stallTimeout,
      grace: program.stopPolicy.grace, keepsLeftovers: program.keepsLeftovers,
      drainLimits: program.drainLimits)
    if program.terminal != nil { ending.outputEnded() }
    if exit >= 0 { self.exit = Descriptor(owning: exit) }
  }

  private var leader: Int32 { started.id }

  mutating func toEnd(slot: ProgramSlot, stop: StopSwitch, output: some ProgramOutput) -> ProgramEnd
  {
    while true {
      switch ending.next(at: MonotonicClock.now) {
      case .wait(let time): wait(until: time, slot: slot, stop: stop, output: output)
      case .terminate: terminate()
      case .kill(let scope): killAll(scope)
      case .check(let scope): check(at: scope)
      case .finish:
        readAvailable(slot: slot, output: output)
        return reap()
      }
    }
  }
}

// MARK: Waiting for events

extension ProgramRun {
  private mutating func wait(
    until time: Duration?, slot: ProgramSlot, stop: StopSwitch, output: some ProgramOutput
  ) {
    let alarm = output.alarm
    poll(until: alarm.map { min($0, time ?? $0) } ?? time, slot: slot)
    readReady(slot: slot, output: output)
    reportTime(to: output)
    if slot.polls[.feed].revents != 0, streams.feed?.sendSome() == false { streams.feed = nil }
    // The exit comes before the stop: a leader that had exited when the stop came has ended by itself.
    recordExit(signalled: slot.polls[.exit].revents != 0)
    if !hasExited { program.terminal?.check() }
    if slot.polls[.wake].revents != 0 {
      weft_wake_drain(slot.wake.number)
      ending.stopRequested(stop.level)
    }
  }

  private func poll(until time: Duration?, slot: ProgramSlot) {
    slot.polls.watch(.output, streams.outputNumber, for: POLLIN)
    slot.polls.watch(.errors, streams.errorsNumber, for: POLLIN)
    slot.polls.watch(.feed, streams.feedNumber, for: POLLOUT)
    slot.polls.watch(.exit, exit?.number ?? -1, for: POLLIN)
    slot.polls.watch(.wake, slot.wake.number, for: POLLIN)
    slot.polls.poll(until: Self.sooner(time, by: pause))
  }

  /// The interval of polling, if needed: no descriptor reports that a program was stopped, and none reports its exit
  /// before Linux 5.3 or if no descriptor was free.
  private var pause: Duration? {
    if hasExited { return nil }
    return exit == nil ? .milliseconds(5) : program.terminal == nil ? nil : .milliseconds(50)
  }

  private static func sooner(_ time: Duration?, by pause: Duration?) -> Duration? {
    guard let pause else { return time }
    let next = MonotonicClock.now + pause
    return time.map { min($0, next) } ?? next
  }

  private mutating func recordExit(signalled: Bool) {
    guard !hasExited, signalled || exit == nil else { return }
    var code: Int32 = -1
    let exited = weft_has_exited(leader, &code)
    guard exited != 0 else { return }
    hasExited = true
    exit = nil
    if exited < 0 { lose() }
    ending.leaderExited(
      at: MonotonicClock.now, succeeded: exited > 0 && program.successCodes.contains(code))
  }

  /// Whether the leader is still a child of this process, so that no other process can have its id.
  private mutating func holdsLeader() -> Bool {
    var code: Int32 = -1
    if !isLost, weft_has_exited(leader, &code) < 0 { lose() }
    return !isLost
  }

  /// Notes that the leader's id may belong to any process from now on.
  private mutating func lose() {
    guard !isLost else { return }
    isLost = true
    program.enclosure?.lost(leader: leader)
  }
}

// MARK: Output

extension ProgramRun {
  /// Calls `output` at its alarm, which the output just read may have changed.
  private func reportTime(to output: some ProgramOutput) {
    guard let alarm = output.alarm else { return }
    let now = MonotonicClock.now
    if alarm <= now { output.timePassed(until: now) }
  }

  private mutating func readReady(slot: ProgramSlot, output: some ProgramOutput) {
    let ready = slot.polls[.output].revents | slot.polls[.errors].revents
    guard ready != 0 else { return }
    if slot.polls[.output].revents != 0 {
      let goes = Self.readPiece(slot.polls[.output], .output, slot: slot, output: output)
      if !goes { streams.output = nil }
    }
    if slot.polls[.errors].revents != 0 {
      let goes = Self.readPiece(slot.polls[.errors], .errors, slot: slot, output: output)
      if !goes { streams.errors = nil }
    }
    // After delivery: a slow callee must not make the program look silent.
    ending.outputArrived(at: MonotonicClock.now)
    if streams.outputNumber < 0, streams.errorsNumber < 0 { ending.outputEnded() }
  }

  /// Reads once; false at the end of the stream.
  private static func readPiece(
    _ polled: pollfd, _ stream: OutputStream, slot: ProgramSlot, output: some ProgramOutput
  ) -> Bool {
    // Hung up with nothing to read is the end. Only Linux reports it this way; elsewhere read does.
    guard polled.revents & Int16(POLLIN) != 0 || polled.revents & Int16(POLLHUP) == 0 else {
      return false
    }
    let count = readOnce(polled.fd, slot.buffer)
    if count > 0 {
      let piece = UnsafeRawBufferPointer(rebasing: slot.buffer[..<count])
      output.take(piece, from: stream, at: MonotonicClock.now)
    }
    if count == ProgramSlot.bufferBytes {
      weft_pipe_grow(polled.fd, Int32(ProgramSlot.largeBufferBytes))
      slot.enlargeBuffer()
    }
    return count > 0
  }

  private static func readOnce(_ number: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    (try? retrying { read(number, buffer.baseAddress, buffer.count) }) ?? 0
  }

  /// Reads the output written so far when reading stops before the end of file. Reads no more than fits into a pipe, so
  /// output that a process keeps writing is lost.
  private mutating func readAvailable(slot: ProgramSlot, output: some ProgramOutput) {
    guard ending.outputIsOpen else { return }
    for _ in 0..<Self.lastReads where ending.outputIsOpen {
      poll(until: .zero, slot: slot)
      guard slot.polls[.output].revents | slot.polls[.errors].revents != 0 else { return }
      readReady(slot: slot, output: output)
    }
  }

  private static let lastReads = ProgramSlot.largeBufferBytes / ProgramSlot.bufferBytes
}

/// Termination of the processes that a program has started, and then of the program.
extension ProgramRun {
  private var enclosure: (any Enclosure)? { program.enclosure }

  /// Sends a signal to the leader's group, unless its id may have been reused: the leader is reaped last, but a host
  /// that reaps all of its children may have done so earlier.
  private mutating func signalGroup(_ signal: Signal) {
    if holdsLeader() { kill(-leader, signal.rawValue) }
  }

  private mutating func terminate() {
    if case .held = program.input {
      streams.feed = nil
      asked = []
      return
    }
    // Found before the signal: a process that loses its parents through it could not be distinguished from an unrelated
    // one.
    let ungrouped = enclosure?.members(besides: leader).filter { $0.group != leader } ?? []
    signalGroup(program.stopPolicy.signal)
    signalGroup(.continue)
    asked = []
    ask(ungrouped)
  }

  /// Asks processes outside the leader's group to end, each once.
  private mutating func ask(_ ungrouped: [ProcessStatus]) {
    for process in ungrouped where asked?.insert(process.identity).inserted == true {
      process.send(program.stopPolicy.signal, if: enclosure?.holds(process) == true)
      process.send(.continue, if: enclosure?.holds(process) == true)
    }
  }

  private mutating func killAll(_ scope: Ending.Scope) {
    signalGroup(.kill)
    if scope == .everything { enclosure?.killAll(besides: leader) }
  }

  private mutating func check(at scope: Ending.Scope) {
    looks += 1
    let hasRemaining = findOtherProcesses(scope)
    if hasRemaining, ending.hasKilled {
      killAll(scope)
    } else if hasRemaining {
      // A search may miss a process that is being started, and find it when its parent has obeyed the signal. Processes
      // of a living parent, such as the cleanup of a Weft that was asked to end, are that parent's.
      let living = Set(found.map(\.id))
      ask(found.filter { $0.group != leader && !living.contains($0.parent) })
    }
    ending.recordOthers(areGone: !hasRemaining, at: MonotonicClock.now)
  }

  /// Whether any other process is left; `found` contains them if a search was worthwhile.
  private mutating func findOtherProcesses(_ scope: Ending.Scope) -> Bool {
    if let enclosure, enclosure.isKnownToBeEmpty { return false }
    guard scope == .everything, let enclosure else { return findGroup() }
    found = enclosure.members(besides: leader)
    // One search may miss a process that starts during it.
    if found.isEmpty { found = enclosure.members(besides: leader) }
    recordLeftovers()
    return !found.isEmpty
  }

  /// Most groups are empty, which is cheap to see. Finding out if the others are more than zombies that are not being
  /// reaped requires a walk over all processes: immediately if they are leftovers to be reported, otherwise after they
  /// have had a moment to exit.
  private mutating func findGroup() -> Bool {
    guard holdsLeader(), weft_group_has_others(leader) != 0 else { return false }
    guard ending.cause == nil && looks == 1 || looks > 3 else { return true }
    found = ProcessTable.shared.members(ofGroup: leader)
    recordLeftovers()
    return !found.isEmpty
  }

  private mutating func recordLeftovers() {
    if ending.cause == nil, !ending.hasKilled { leftovers = found.map(\.record) }
  }

  private mutating func reap() -> ProgramEnd {
    // For processes that `weft_group_has_others` may have missed.
    if !program.keepsLeftovers { signalGroup(.kill) }
    RunningGroups.shared.remove(leader)
    program.terminal?.programEnded()
    let keepsProcesses = program.keepsLeftovers && ending.endedWell
    let keptProcesses = keepsProcesses && enclosure?.isKnownToBeEmpty != true
    enclosure?.ended(leader: leader, keepsProcesses: keepsProcesses)
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
      keptProcesses: keptProcesses, outputWasHeld: ending.outputWasHeld,
      usage: ProgramUsage(usage), duration: MonotonicClock.now - begin)
  }
}
