// WeftPlatform wraps the parts of the operating system that Weft needs. It is the only module that uses POSIX;
// CWeftPlatform contains what is only possible in C.
//
//   Processes/  `ChildProgram` runs one program to its end on the calling thread: `ProgramArguments` and
//               `SearchPath` define what is spawned, `ProgramRun` waits and acts, `Ending` decides,
//               and `RunningGroups` pauses all programs
//   Terminals/  `TerminalLoan` lends the terminal to one program, and restores it
//   Threads/    `ThreadPool`, for blocking work such as the above
//   Time/       clocks, and `TimeSource`, which tests replace
//   Signals/    `Signal` by name, `SignalListener` for a program's main
//   Files/      reading workflow files and confining their paths, writing output, spooling bytes to disk

import CWeftPlatform

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
    var mayHaveLeftTraces = false
    defer { terminal?.end(restoringScreen: mayHaveLeftTraces) }
    var run = try start()
    started(run.started)
    let end = run.toEnd(slot: slot, stop: stop, output: output)
    mayHaveLeftTraces = end.wasCutOff
    return end
  }

  private func start() throws(SpawnError) -> ProgramRun {
    let arguments = try ProgramArguments(arguments, environment: environment, directory: directory)
    let program = try environment.searchPath.resolve(self.arguments[0])
    let begin = MonotonicClock.now
    var streams: ProgramStreams
    do { streams = try self.streams() } catch { throw .resources(error) }
    let started = try RunningGroups.shared.admit { () throws(SpawnError) in
      // This process may have been in the foreground when the terminal was lent, and have been stopped since.
      if let terminal, !terminal.isForeground { throw .terminalUnavailable(.inBackground) }
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

  private func streams() throws(SystemError) -> ProgramStreams {
    if let terminal { return ProgramStreams(terminal: terminal.descriptor) }
    return try ProgramStreams(input: input, merged: mergesOutput)
  }
}
