// WeftPlatform wraps the parts of the operating system that Weft needs. It is the only module that uses POSIX;
// CWeftPlatform contains what is only possible in C.
//
//   Processes/  `ChildProgram` runs one program to its end on the calling thread: `ProgramArguments` and
//               `SearchPath` define what is spawned, `ProgramRun` waits and acts, `Ending` decides,
//               and `RunningGroups` pauses all programs
//   Terminals/  `TerminalLoan` lends the terminal to one program, and restores it
//   Threads/    `ThreadPool`, for blocking work such as the above
//   Time/       clocks, and `TimeSource`, which tests replace
//   Files/      `Descriptor` owns an open file; `Directory` opens everything that has a name in a directory, and its
//               policies are confined paths, walks, and `PrivateDirectory`
//   Containment/  finds all processes that a program has started

import CWeftPlatform
import Synchronization

/// One of a program's two output streams.
package enum OutputStream: Hashable, Sendable {
  case output, errors
}

/// A program to run once: its command, its inputs, and the way it is stopped.
package struct ChildProgram: Sendable {
  package enum Input: Sendable {
    /// End of file immediately.
    case null
    /// These bytes, then end of file. It is no error if the program does not read them.
    case bytes([UInt8])
    /// These bytes, and the end of file only when it is to terminate, in place of the signal of its stop policy.
    case held([UInt8])
    /// A file, read from its current offset. The program shares its open file description.
    case file(Descriptor)
  }

  /// The program and its arguments. The program is a path with a slash in it, relative to `directory`, or a name to
  /// find in the PATH of `environment`.
  package var arguments: [String]
  package var environment: EnvironmentBlock
  /// The working directory; `nil` for that of this process.
  package var directory: String?
  package var input = Input.null
  /// The terminal that becomes its standard streams, in place of `input` and the pipes, so that there is no output. It
  /// is restored when ``run(stop:started:output:)`` returns.
  package var terminal: TerminalLoan?
  /// The descriptors that become its 3, 4 ...; at most 4.
  package var further: [Descriptor] = []
  /// Whether both streams share one pipe, so that their order is exact; all bytes arrive as `.output`.
  package var mergesOutput = false
  /// The time from which its limits are counted, if that is before its start.
  package var countsTimeFrom: Duration?
  /// The limit from its start to the leader's exit.
  package var timeout: Duration?
  /// The limit without output, from its start or its last output to the leader's exit.
  package var stallTimeout: Duration?
  package var stopPolicy = StopPolicy()
  package var drainLimits = DrainLimits()
  /// The exit codes that count as success: processes that created their own session are then left running.
  package var successCodes: [Int32] = [0]
  /// Whether, after a success, processes in its group are left running, too.
  package var keepsLeftovers = false
  /// The container of all processes that it starts; `nil`: only its group is terminated with it.
  package var enclosure: (any Enclosure)?

  package init(_ arguments: [String], environment: EnvironmentBlock, directory: String? = nil) {
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
  }

  /// Opens the descriptors that all programs share, so that they are available however few are left later.
  package static func prepare() { _ = try? NullDevice.descriptor() }

  /// Runs the program to its end on the calling thread, which is blocked meanwhile.
  ///
  /// - Parameters:
  ///   - stop: Stops it from any thread; if stopped beforehand, nothing is spawned.
  ///   - started: Called once, before any output.
  ///   - output: Takes the program's output.
  /// - Throws: `SpawnError` if nothing of it has run.
  package func run(
    stop: StopSwitch,
    started: (StartedProgram) -> Void = { _ in },
    output: some ProgramOutput
  ) throws(SpawnError) -> ProgramEnd {
    let slot: ProgramSlot
    do { slot = try .ofThisThread() } catch { throw .resources(error) }
    let level = stop.attach(slot.signal)
    defer { stop.detach(slot.signal) }
    guard level == .none else { throw .stopped }
    var mayNeedScreenReset = false
    defer { terminal?.end(restoringScreen: mayNeedScreenReset) }
    var run = try start()
    started(run.started)
    let end = run.toEnd(slot: slot, stop: stop, output: output)
    mayNeedScreenReset = end.wasCutOff
    return end
  }

  private func start() throws(SpawnError) -> ProgramRun {
    let arguments = try ProgramArguments(arguments, environment: environment, directory: directory)
    let program = try environment.searchPath.resolve(self.arguments[0])
    let begin = MonotonicClock.now
    var streams = try self.streams()
    let started = try RunningGroups.shared.admit { () throws(SpawnError) in
      // This process may have been in the foreground when the terminal was lent, and have been stopped since.
      do throws(TerminalError) { try terminal?.lend() } catch { throw .terminalUnavailable(error) }
      let started = try ChildProcesses.start { () throws(SpawnError) in
        try StartedProgram { () throws(SpawnError) in
          try arguments.start(
            program, streams: streams, further: further, cgroup: enclosure?.cgroup ?? -1)
        }
      }
      terminal?.began(started.id)
      return (started, terminal == nil ? started.id : nil)
    }
    enclosure?.began(leader: started.id)
    streams.closeProgramEnds()
    return ProgramRun(
      of: self, started: started, exit: weft_exit_descriptor(started.id), streams: streams,
      begin: begin)
  }

  private func streams() throws(SpawnError) -> ProgramStreams {
    if let terminal { return ProgramStreams(terminal: terminal.descriptor) }
    return try ProgramStreams(input: input, merged: mergesOutput)
  }
}

/// A consumer of a program's output. It is called on the thread that runs the program, which meanwhile blocks once its
/// pipe is full. It must not run a different program on that thread, because both would share a buffer.
package protocol ProgramOutput {
  /// Takes one piece as it was read, split anywhere; pieces arrive in order within a stream. The bytes are valid until
  /// it returns.
  func take(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration)

  /// The time at which it wants to be called even without output; `nil`: never.
  var alarm: Duration? { get }

  /// Called at the time of the alarm. The alarm must have a different value afterwards.
  func timePassed(until now: Duration)
}

/// Output that is handled as it arrives.
struct ImmediateOutput: ProgramOutput {
  let handle: (OutputStream, UnsafeRawBufferPointer) -> Void

  var alarm: Duration? { nil }

  func take(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration) {
    handle(stream, bytes)
  }

  func timePassed(until now: Duration) {}
}

extension ChildProgram {
  /// Runs the program to its end, see ``run(stop:started:output:)``, and passes on each piece of its output as it
  /// arrives.
  package func run(
    stop: StopSwitch, started: (StartedProgram) -> Void = { _ in },
    output: @escaping (OutputStream, UnsafeRawBufferPointer) -> Void
  ) throws(SpawnError) -> ProgramEnd {
    try run(stop: stop, started: started, output: ImmediateOutput(handle: output))
  }
}

/// The way a program is asked to terminate before it is killed.
package struct StopPolicy: Hashable, Sendable {
  /// Sent to the program's whole group, followed by CONT, so that stopped processes receive it.
  package var signal: Signal
  /// The time from the signal to KILL, which is sent only if processes are left.
  package var grace: Duration

  package init(signal: Signal = .terminate, grace: Duration = .seconds(10)) {
    self.signal = signal
    self.grace = grace
  }
}

/// The urgency of a stop.
package enum StopLevel: Int, Comparable, Sendable {
  case none, graceful, now

  package static func < (one: StopLevel, other: StopLevel) -> Bool { one.rawValue < other.rawValue }
}

/// The reason why a program that did not end by itself was ended.
package enum StopCause: Hashable, Sendable {
  case timeout, cancelled
  /// It wrote no output for too long.
  case stall
}

/// Stops running programs. Any thread may raise its level, any number of times.
///
/// One switch serves any number of programs. Those that have not been spawned yet never will be.
package final class StopSwitch: Sendable {
  private enum Waker {
    case descriptor(Int32)
    case wakeup(Wakeup)

    func wake() {
      switch self {
      case .descriptor(let number): weft_wake_signal(number)
      case .wakeup(let wakeup): wakeup.wake()
      }
    }

    func isSame(as other: Waker) -> Bool {
      switch (self, other) {
      case (.descriptor(let one), .descriptor(let other)): one == other
      case (.wakeup(let one), .wakeup(let other)): one === other
      default: false
      }
    }
  }

  private struct State {
    var level = StopLevel.none
    var wakers: [Waker] = []
    var observers: [(level: StopLevel, action: @Sendable () -> Void)] = []

    /// - Returns: Whether it was added before the level was reached.
    mutating func add(_ wanted: StopLevel, _ action: @escaping @Sendable () -> Void) -> Bool {
      guard level < wanted else { return false }
      observers.append((wanted, action))
      return true
    }

    /// Removes and returns the observers whose level has been reached.
    mutating func takeObservers() -> [@Sendable () -> Void] {
      let called = observers.filter { $0.level <= level }
      observers.removeAll { $0.level <= level }
      return called.map(\.action)
    }
  }

  private let state = Mutex(State())

  package init() {}

  package var level: StopLevel { state.withLock { $0.level } }

  /// Raises the level; a lower or equal one has no effect.
  package func request(_ level: StopLevel) {
    let observers = state.withLock { state -> [@Sendable () -> Void] in
      guard level > state.level else { return [] }
      state.level = level
      // Inside the lock, because after `detach` the descriptor may be closed and its number reused.
      for waker in state.wakers { waker.wake() }
      return state.takeObservers()
    }
    for observer in observers { observer() }
  }

  /// Calls `action` once, when a stop at least as urgent as `level` is first requested: on the requesting thread, or
  /// immediately if one has been requested. For code that waits without a thread.
  package func whenRequested(
    _ level: StopLevel = .graceful, _ action: @escaping @Sendable () -> Void
  ) {
    if !state.withLock({ $0.add(level, action) }) { action() }
  }

  /// Signals `descriptor` whenever the level rises, until it is detached.
  func attach(_ descriptor: Int32) -> StopLevel { attach(.descriptor(descriptor)) }
  func detach(_ descriptor: Int32) { detach(.descriptor(descriptor)) }

  /// Wakes `wakeup` whenever the level rises, until it is detached.
  package func attach(_ wakeup: Wakeup) { _ = attach(.wakeup(wakeup)) }
  package func detach(_ wakeup: Wakeup) { detach(.wakeup(wakeup)) }

  private func attach(_ waker: Waker) -> StopLevel {
    state.withLock { state in
      state.wakers.append(waker)
      return state.level
    }
  }

  private func detach(_ waker: Waker) {
    state.withLock { state in
      guard let index = state.wakers.firstIndex(where: { $0.isSame(as: waker) }) else { return }
      state.wakers.remove(at: index)
    }
  }
}
