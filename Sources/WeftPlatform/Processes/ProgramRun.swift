import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that has started, up to its end: does what `Ending` decides.
struct ProgramRun: ~Copyable {
  let leader: Int32
  private let begin: Duration
  private let policy: StopPolicy
  private var streams: ProgramStreams
  /// What it has in place of pipes.
  private let terminal: TerminalLoan?
  private var ending: Ending
  /// Readable at the leader's exit; `nil` after it, or where the system gave none.
  private var exit: OwnedDescriptor?
  private var hasExited = false
  private var looks = 0
  private var leftovers: [ProcessRecord] = []

  /// - Parameter exit: What `weft_exit_descriptor` gave, also if that is an error.
  init(
    leader: Int32, exit: Int32, streams: consuming ProgramStreams, terminal: TerminalLoan? = nil,
    policy: StopPolicy, ending: Ending, begin: Duration
  ) {
    self.leader = leader
    self.streams = streams
    self.policy = policy
    self.ending = ending
    self.begin = begin
    self.terminal = terminal
    if terminal != nil { self.ending.outputEnded() }
    if exit >= 0 { self.exit = OwnedDescriptor(exit) }
  }

  mutating func toEnd(slot: ProgramSlot, stop: StopSwitch, output: some ProgramOutput) -> ProgramEnd
  {
    while true {
      switch ending.next(at: MonotonicClock.now) {
      case .wait(let time): wait(until: time, slot: slot, stop: stop, output: output)
      case .terminate:
        signalGroup(policy.signal)
        signalGroup(.continue)
      case .kill: signalGroup(.kill)
      case .lookAtGroup: lookAtGroup()
      case .finish:
        readWhatIsThere(slot: slot, output: output)
        return reap()
      }
    }
  }
}

// MARK: Waiting for something to happen

extension ProgramRun {
  private mutating func wait(
    until time: Duration?, slot: ProgramSlot, stop: StopSwitch, output: some ProgramOutput
  ) {
    poll(until: [time, output.alarm].compactMap(\.self).min(), slot: slot)
    readReady(slot: slot, output: output)
    if let alarm = output.alarm {
      let now = MonotonicClock.now
      if alarm <= now { output.timePassed(until: now) }
    }
    if slot.polls[.feed].revents != 0, streams.feed?.sendSome() == false { streams.feed = nil }
    // The exit before the stop: who had exited when the stop came has ended by itself.
    noteExit(signalled: slot.polls[.exit].revents != 0)
    if !hasExited { terminal?.look() }
    if slot.polls[.wake].revents != 0 {
      weft_wake_drain(slot.wake.number)
      ending.stopRequested(stop.level)
    }
  }

  private func poll(until time: Duration?, slot: ProgramSlot) {
    slot.polls.watch(.output, streams.outputNumber, for: POLLIN)
    slot.polls.watch(.errors, streams.errorsNumber, for: POLLIN)
    slot.polls.watch(.feed, streams.feedNumber, for: POLLOUT)
    slot.polls.watch(.exit, exitNumber, for: POLLIN)
    slot.polls.watch(.wake, slot.wake.number, for: POLLIN)
    slot.polls.poll(until: Self.sooner(time, by: pause))
  }

  /// How long nothing may be looked at: no descriptor tells that a program was stopped, and none the exit
  /// before Linux 5.3, or where none was free.
  private var pause: Duration? {
    if hasExited { return nil }
    return exit == nil ? .milliseconds(5) : terminal == nil ? nil : .milliseconds(50)
  }

  private var exitNumber: Int32 {
    switch exit {
    case .some(let exit): exit.number
    case nil: -1
    }
  }

  private static func sooner(_ time: Duration?, by pause: Duration?) -> Duration? {
    guard let pause else { return time }
    let next = MonotonicClock.now + pause
    return time.map { min($0, next) } ?? next
  }

  private mutating func noteExit(signalled: Bool) {
    guard !hasExited, signalled || (exit == nil && weft_has_exited(leader) != 0) else { return }
    hasExited = true
    exit = nil
    ending.leaderExited(at: MonotonicClock.now)
  }
}

// MARK: Output

extension ProgramRun {
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
    // After delivery: a callee that takes its time must not make the program look silent.
    ending.outputArrived(at: MonotonicClock.now)
    if streams.outputNumber < 0, streams.errorsNumber < 0 { ending.outputEnded() }
  }

  /// One read; false at the end of the stream.
  private static func readPiece(
    _ polled: pollfd, _ stream: OutputStream, slot: ProgramSlot, output: some ProgramOutput
  ) -> Bool {
    // Hung up with nothing to read is the end; only Linux tells it so, elsewhere read does.
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

  /// When reading stops before the end of file, what was written until now is not lost. What a process
  /// goes on writing meanwhile is: no more is taken than fits into a pipe.
  private mutating func readWhatIsThere(slot: ProgramSlot, output: some ProgramOutput) {
    guard ending.outputIsOpen else { return }
    for _ in 0..<Self.lastReads where ending.outputIsOpen {
      poll(until: .zero, slot: slot)
      guard slot.polls[.output].revents | slot.polls[.errors].revents != 0 else { return }
      readReady(slot: slot, output: output)
    }
  }

  private static let lastReads = ProgramSlot.largeBufferBytes / ProgramSlot.bufferBytes
}

// MARK: The end

extension ProgramRun {
  private func signalGroup(_ signal: Signal) {
    // Nobody else can have the id: the leader is not reaped before the end.
    kill(-leader, signal.rawValue)
  }

  private mutating func lookAtGroup() {
    looks += 1
    ending.groupSeen(isEmpty: !groupHasOthers(), at: MonotonicClock.now)
  }

  /// Most groups are empty, and that is cheap to see. Whether others are more than zombies which nobody
  /// reaps takes a walk over all processes: at once where they are leftovers to be reported, otherwise
  /// after they had a moment to go.
  private mutating func groupHasOthers() -> Bool {
    guard weft_group_has_others(leader) != 0 else { return false }
    let reports = ending.cause == nil && looks == 1
    guard reports || looks > 3 else { return true }
    let alive = ProcessTable.shared.members(ofGroup: leader)
    if reports { leftovers = alive }
    return !alive.isEmpty
  }

  private func reap() -> ProgramEnd {
    // For those that `weft_group_has_others` may have missed.
    signalGroup(.kill)
    RunningGroups.shared.remove(leader)
    terminal?.programEnded()
    var status: Int32 = 0
    var usage = rusage()
    while wait4(leader, &status, 0, &usage) < 0, SystemError.last == .interrupted {}
    return ProgramEnd(
      status: ProgramEnd.Status(waitStatus: status), stopped: ending.cause,
      neededKill: ending.neededKill, leftovers: leftovers, outputWasHeld: ending.outputWasHeld,
      usage: ResourceUsage(usage), duration: MonotonicClock.now - begin)
  }
}
