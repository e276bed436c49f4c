import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlatform

/// Runs programs on hosts by the user's own `ssh`, each under a ``RemoteSupervisor``.
///
/// Up to eight programs on a host share a connection, which ends with the run. Each program is an `ssh` of its own,
/// contained and stopped like a program of this machine, except that it is stopped by the end of its input.
final class SSHRunner: RemoteRunner {
  private struct State {
    var seats: HostSeats
    /// The connections by their numbers in the seats.
    var connections: [Int: SSHConnection] = [:]
    /// The first connections of a resumed run, to all hosts.
    var first: [SSHConnection]?
  }

  private let hosts: SSHHosts
  private let run: RunID
  private let isResumed: Bool
  /// The beginning of the words of all programs of the engine, on any runner.
  private let engine: String
  private let startDirectory: String?
  private let threads: ThreadPool
  private let state: Mutex<State>

  init(
    _ hosts: SSHHosts, run: RunID, engine: String, isResumed: Bool, startDirectory: String?,
    _ threads: ThreadPool
  ) {
    self.hosts = hosts
    self.run = run
    self.engine = engine
    self.isResumed = isResumed
    self.startDirectory = startDirectory
    self.threads = threads
    state = Mutex(State(seats: HostSeats(hosts: hosts.names.count)))
  }

  func run(
    _ program: ChildProgram, for attempt: Attempt, in executor: CommandExecutor
  ) throws(AttemptStartError) -> Future<AttemptEnd, Never> {
    Future(value: try runToEnd(program, for: attempt, in: executor))
  }

  private func runToEnd(
    _ program: ChildProgram, for attempt: Attempt, in executor: CommandExecutor
  ) throws(AttemptStartError) -> AttemptEnd {
    try endEarlierPrograms(for: attempt, in: executor)
    let (seat, connection) = try takeSeat(for: attempt, in: executor)
    defer { state.withLock { $0.seats.giveBack(seat) } }
    var end = try runToEnd(
      program, for: attempt, in: executor, on: hosts.names[seat.host], by: connection)
    end.host = hosts.names[seat.host]
    return end
  }

  private func runToEnd(
    _ program: ChildProgram, for attempt: Attempt, in executor: CommandExecutor, on host: String,
    by connection: SSHConnection
  ) throws(AttemptStartError) -> AttemptEnd {
    switch connection.wait(until: attempt.stop) {
    case .connected: break
    case .stopped: throw .notStarted(.stopped)
    case .failed(let failure): return AttemptEnd(.failed(failure))
    }
    let word = "\(engine)x\(RemoteProgram.word())"
    var remote = RemoteProgram(program, of: attempt, in: directory(of: attempt))
    do throws(StepFailure) {
      remote.input = try upload(program.input, to: host, by: connection, for: attempt, in: executor)
    } catch {
      return AttemptEnd(.failed(error))
    }
    var local = program
    local.arguments = hosts.command(
      RemoteSupervisor.command, on: host, by: connection.socket, isMaster: false)
    local.environment = try ownEnvironment(of: attempt, in: executor)
    local.directory = nil
    local.mergesOutput = false
    local.input = .held(RemoteSupervisor.input(for: remote, word: word))
    // The host has the grace period, and then some time to report the end.
    local.stopPolicy.grace = .seconds(remote.graceSeconds) + SSHRunner.margin
    let output = RemoteOutput(attempt.output, word: word)
    let end = try executor.start(local, for: attempt, output: output)
    return attemptEnd(end, output, of: program, for: attempt, on: host)
  }

  private func directory(of attempt: Attempt) -> String {
    attempt.directory(in: hosts.workingDirectory ?? startDirectory)
  }

  private func attemptEnd(
    _ end: ProgramEnd, _ output: RemoteOutput<StepOutputSink>, of program: ChildProgram,
    for attempt: Attempt, on host: String
  ) -> AttemptEnd {
    guard case .over(let remote) = output.phase else {
      if end.stopped != nil { return AttemptEnd(end, of: program) }
      return AttemptEnd(
        .failed(
          output.phase == .running
            ? .connectionLost(to: host) : .notConnected(to: host, saying: output.preamble)))
    }
    var end = end
    switch remote.status {
    case .noDirectory: return AttemptEnd(.failed(.noDirectory(on: host, directory(of: attempt))))
    case .noProgram: return AttemptEnd(.failed(.noProgram(program.arguments[0], on: host)))
    case .ended(let status):
      switch ProgramExit(
        shellStatus: status, isScript: attempt.command.invocation.script != nil)
      {
      case .code(let code): end.status = .exited(code: Int32(clamping: code))
      case .signal(let name): end.status = Signal(name: name).map { .killed(by: $0) } ?? end.status
      }
      if let failure = attempt.keep(outputs: output.outputs, from: host) {
        return AttemptEnd(.failed(failure))
      }
      return AttemptEnd(end, of: program, usage: remote.usage?.beside(attempt.command.resources))
    }
  }

  func finish() -> Future<Void, Never> {
    let connections = state.withLock { Array($0.connections.values) }
    return Future.zip(connections.map { $0.close() }).map { _ in }
  }

  private static let margin = Duration.seconds(5)
}

// MARK: The program

extension SSHRunner {
  /// Puts the standard input of a program into a file on the host.
  ///
  /// - Returns: Its path; `nil` if there is none.
  private func upload(
    _ input: ChildProgram.Input, to host: String, by connection: SSHConnection,
    for attempt: Attempt, in executor: CommandExecutor
  ) throws(StepFailure) -> String? {
    if case .null = input { return nil }
    let errors: [UInt8]
    do {
      var program = ChildProgram(
        hosts.command(
          RemoteSupervisor.uploadCommand, on: host, by: connection.socket, isMaster: false),
        environment: try ownEnvironment(of: attempt, in: executor))
      program.input = input
      let printed = try program.runCollecting(in: executor.enclosing, stop: attempt.stop)
      // Scripts of a login shell may print something before.
      let lines = String(decoding: printed.output, as: UTF8.self).split(separator: "\n")
      if printed.end.exited(with: 0), let path = lines.last, path.hasPrefix("/") {
        return String(path)
      }
      errors = printed.errors
    } catch {
      throw StepFailure(
        classes: [.runner], message: "did not start: its standard input cannot be sent to \(host)")
    }
    throw .notConnected(to: host, saying: errors)
  }

  private func ownEnvironment(
    of attempt: Attempt, in executor: CommandExecutor
  ) throws(AttemptStartError) -> EnvironmentBlock {
    let cookie = executor.resolver.cookie(of: attempt.address, attempt: attempt.number)
    do { return try executor.resolver.ownEnvironment(cookie) } catch { throw .environment(error) }
  }
}

// MARK: Connections

extension SSHRunner {
  /// Connects a resumed run to all hosts, any of which may still run what earlier engines have started. Those that cannot
  /// be reached are left alone.
  private func endEarlierPrograms(
    for attempt: Attempt, in executor: CommandExecutor
  ) throws(AttemptStartError) {
    guard isResumed else { return }
    var connections = state.withLock(\.first) ?? []
    if connections.isEmpty {
      for host in hosts.names.indices {
        let (seat, connection) = try takeSeat(on: host, for: attempt, in: executor)
        connections.append(connection)
        state.withLock { $0.seats.giveBack(seat) }
      }
      state.withLock { [connections] in $0.first = connections }
    }
    for connection in connections { _ = connection.wait(until: attempt.stop) }
  }

  /// Takes a place for a program on a connection, which is opened if it is a new one.
  ///
  /// - Parameter host: `nil` for the host with the fewest programs.
  private func takeSeat(
    on host: Int? = nil, for attempt: Attempt, in executor: CommandExecutor
  ) throws(AttemptStartError) -> (HostSeats.Seat, SSHConnection) {
    let environment: EnvironmentBlock
    do { environment = try executor.resolver.ownEnvironment(executor.resolver.cookie) } catch {
      throw .environment(error)
    }
    let (seat, known) = state.withLock { state -> (HostSeats.Seat, SSHConnection?) in
      let connections = state.connections
      let seat = state.seats.take(on: host) { connections[$0]?.hasEnded == false }
      if let known = connections[seat.connection] { return (seat, known) }
      let socket = (try? attempt.folder.ownPath("ssh\(seat.connection)")).flatMap {
        $0.utf8.count <= SSHHosts.longestSocketPath ? $0 : nil
      }
      state.connections[seat.connection] = SSHConnection(
        to: hosts.names[seat.host], socket: socket)
      return (seat, nil)
    }
    if let known { return (seat, known) }
    guard let connection = state.withLock({ $0.connections[seat.connection] }) else {
      preconditionFailure("a connection is kept until the end of the run")
    }
    var program = ChildProgram(
      hosts.command(
        RemoteSupervisor.command, on: hosts.names[seat.host], by: connection.socket,
        isMaster: true), environment: environment)
    program.input = .held(RemoteSupervisor.waitingInput(run: run.text, engine: engine))
    connection.open(by: program, in: executor.enclosing, on: threads)
    return (seat, connection)
  }
}

extension SSHHosts {
  /// A socket's address has 108 bytes, of which `ssh` needs 18 for a temporary name.
  fileprivate static let longestSocketPath = 88

  /// The `ssh` that runs a command on a host.
  ///
  /// - Parameters:
  ///   - command: For the login shell of the user there.
  ///   - socket: The socket of the connection.
  ///   - isMaster: Whether it opens that, or uses it.
  func command(
    _ command: String, on host: String, by socket: String?, isMaster: Bool
  ) -> [String] {
    let settings = [
      "BatchMode=yes", "ControlMaster=\(isMaster && socket != nil ? "yes" : "no")",
      "ControlPath=\(socket ?? "none")", "ControlPersist=no", "ClearAllForwardings=yes",
      "RemoteCommand=none", "RequestTTY=no", "LogLevel=ERROR",
    ]
    // The first value of a setting counts; these may be set by the user.
    let usual = ["ConnectTimeout=30", "ServerAliveInterval=15", "ServerAliveCountMax=4"]
    return ["ssh"] + settings.flatMap { ["-o", $0] } + options + usual.flatMap { ["-o", $0] }
      + ["--", host, command]
  }
}
