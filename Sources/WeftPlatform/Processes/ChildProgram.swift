// WeftPlatform is the operating system, as far as Weft needs it, and the only place where POSIX is spoken;
// what C alone can do is in CWeftPlatform.
//
//   Processes/  `ChildProgram` runs one program to its end on the calling thread: `ProgramArguments` and
//               `SearchPath` say what is started, `ProgramRun` waits and acts, `Ending` decides,
//               and `RunningGroups` lets all programs stand still
//   Terminals/  `TerminalLoan`: the terminal in the hands of one program, and back as it was
//   Threads/    `BlockingThreads`, for jobs that block, such as the above
//   Time/       clocks, and `TimeSource`, behind which a test puts its own
//   Signals/    `Signal` by name, `SignalListener` for a program's main
//   Files/      reading workflow files and confining where they lie, writing output, putting bytes aside

import CWeftPlatform

/// One of a program's two output streams.
package enum OutputStream: Hashable, Sendable {
  case output, errors
}

/// A program to be run once: what is started, with what, and how it is stopped.
package struct ChildProgram: Sendable {
  package enum Input: Sendable {
    /// End of file at once.
    case null
    /// These bytes, then end of file. A program that does not read them is no error.
    case bytes([UInt8])
    /// Read from where it stands. It is shared with the program, offset and all.
    case file(Descriptor)
  }

  /// The first names the program: by a path with a slash in it, relative to `directory`, or to be looked
  /// for in the PATH of `environment`.
  package var arguments: [String]
  package var environment: EnvironmentBlock
  /// `nil`: where this process is.
  package var directory: String?
  package var input = Input.null
  /// Becomes its standard streams, in place of `input` and the pipes: there is no output then. It is as
  /// before when ``run(stop:started:output:)`` returns.
  package var terminal: TerminalLoan?
  /// Become its descriptors 3, 4 ...; at most 4.
  package var further: [Descriptor] = []
  /// Both streams into one pipe, so that their order is exact; all arrives as `.output`.
  package var mergesOutput = false
  /// From when on its time is counted, if that is before its start.
  package var countsTimeFrom: Duration?
  /// From the start to the leader's exit.
  package var timeout: Duration?
  /// How long it may write nothing, from its start or its last output to the leader's exit.
  package var stallTimeout: Duration?
  package var stopPolicy = StopPolicy()
  /// Exit codes after which what has made a session of its own is left alone.
  package var successCodes: [Int32] = [0]
  /// After a success, what is alive in its group is left alone, too.
  package var keepsLeftovers = false
  /// What all that it starts is held in; `nil`: only its group is ended with it.
  package var enclosure: (any Enclosure)?

  package init(_ arguments: [String], environment: EnvironmentBlock, directory: String? = nil) {
    self.arguments = arguments
    self.environment = environment
    self.directory = directory
  }

  /// Opens what all programs share, so that it is there however few descriptors are left later.
  package static func prepare() { _ = try? NullDevice.descriptor() }

  /// Runs the program to its end on the calling thread, which is blocked meanwhile.
  ///
  /// - Parameters:
  ///   - stop: Asks it to stop from any thread; requested beforehand, nothing is started.
  ///   - started: Called once, before any output.
  ///   - output: Takes what it writes.
  /// - Throws: `ProgramNotStarted` when nothing of it has run.
  package func run(
    stop: StopSwitch,
    started: (StartedProgram) -> Void = { _ in },
    output: some ProgramOutput
  ) throws(ProgramNotStarted) -> ProgramEnd {
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

  private func start() throws(ProgramNotStarted) -> ProgramRun {
    let arguments = try ProgramArguments(arguments, environment: environment, directory: directory)
    let program = try environment.searchPath.resolve(self.arguments[0])
    let begin = MonotonicClock.now
    var streams: ProgramStreams
    do { streams = try self.streams() } catch { throw .resources(error) }
    let started = try RunningGroups.shared.admit { () throws(ProgramNotStarted) in
      // It may have been in the foreground when the terminal was lent, and have been stopped since.
      if let terminal, !terminal.isForeground { throw .terminalUnavailable(.inBackground) }
      let started = try ChildProcesses.start { () throws(ProgramNotStarted) in
        try StartedProgram { () throws(ProgramNotStarted) in
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
