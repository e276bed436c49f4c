import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that has started, up to its end: does what `Ending` decides.
struct ProgramRun: ~Copyable {
  let started: StartedProgram
  let begin: Duration
  let program: ChildProgram
  private var streams: ProgramStreams
  var ending: Ending
  /// Readable at the leader's exit; `nil` after it, or where the system gave none.
  private var exit: OwnedDescriptor?
  private var hasExited = false
  /// Whether the leader's exit status was taken by somebody else. Its id, and its group's, may then be
  /// another's, and no signal goes there.
  private(set) var isLost = false
  /// Who was alive when the leader had exited.
  var leftovers: [ProcessRecord] = []
  /// Who was alive when last looked.
  var found: [ProcessStatus] = []
  var looks = 0

  /// - Parameter exit: What `weft_exit_descriptor` gave, also if that is an error.
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
      grace: program.stopPolicy.grace, keepsLeftovers: program.keepsLeftovers)
    if program.terminal != nil { ending.outputEnded() }
    if exit >= 0 { self.exit = OwnedDescriptor(exit) }
  }

  var leader: Int32 { started.id }

  mutating func toEnd(slot: ProgramSlot, stop: StopSwitch, output: some ProgramOutput) -> ProgramEnd
  {
    while true {
      switch ending.next(at: MonotonicClock.now) {
      case .wait(let time): wait(until: time, slot: slot, stop: stop, output: output)
      case .terminate: terminate()
      case .kill(let scope): killAll(scope)
      case .look(let scope): look(at: scope)
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
    let alarm = output.alarm
    poll(until: alarm.map { min($0, time ?? $0) } ?? time, slot: slot)
    readReady(slot: slot, output: output)
    tellTime(to: output)
    if slot.polls[.feed].revents != 0, streams.feed?.sendSome() == false { streams.feed = nil }
    // The exit before the stop: who had exited when the stop came has ended by itself.
    noteExit(signalled: slot.polls[.exit].revents != 0)
    if !hasExited { program.terminal?.look() }
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
    return exit == nil ? .milliseconds(5) : program.terminal == nil ? nil : .milliseconds(50)
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

  /// Whether the leader is still a child of this process, and so nobody else can have its id.
  mutating func holdsLeader() -> Bool {
    var code: Int32 = -1
    if !isLost, weft_has_exited(leader, &code) < 0 { lose() }
    return !isLost
  }

  /// From now on the leader's id can be anyone's.
  mutating func lose() {
    guard !isLost else { return }
    isLost = true
    program.enclosure?.lost(leader: leader)
  }
}

// MARK: Output

extension ProgramRun {
  /// What was read may have changed the alarm.
  private func tellTime(to output: some ProgramOutput) {
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
