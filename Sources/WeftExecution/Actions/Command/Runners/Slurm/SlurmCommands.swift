import Synchronization
import WeftDefinition
import WeftEncoding
import WeftEvents
import WeftPlatform

/// The commands of Slurm, run on the calling thread.
final class SlurmCommands: Sendable {
  private struct Setting {
    let environment: EnvironmentBlock
    let containment: (any Containment)?
  }

  private struct State {
    var setting: Setting?
    /// Ends the commands that are running.
    var stop = StopSwitch()
    /// The time after which a command is given up.
    var patience = Duration.seconds(120)
  }

  private static let hurriedPatience = Duration.seconds(5)

  private let state = Mutex(State())

  /// Must be called before the first command. Jobs get this environment, too.
  func prepare(_ environment: EnvironmentBlock, in containment: (any Containment)?) {
    state.withLock { $0.setting = Setting(environment: environment, containment: containment) }
  }

  var isReady: Bool { state.withLock { $0.setting != nil } }

  /// Gives up the commands that are running, and later ones after a shorter time.
  func hurry() {
    let stop = state.withLock { state -> StopSwitch? in
      if state.patience == Self.hurriedPatience { return nil }
      state.patience = Self.hurriedPatience
      defer { state.stop = StopSwitch() }
      return state.stop
    }
    stop?.request(.now)
  }

  /// - Parameter isTest: Whether `sbatch` only says if it would accept the job, which gets no number.
  func submit(_ arguments: [String], script: String, isTest: Bool = false) -> JobSubmission {
    let (end, output, errors): (ProgramEnd, [UInt8], [UInt8])
    do { (end, output, errors) = try run(arguments, input: Array(script.utf8)) } catch {
      if case .stopped = error { return .busy("sbatch was given up") }
      return .refused(
        StepFailure(
          classes: [.spawn], message: "did not start: sbatch: \(error.message)",
          help: "run weft where Slurm's commands are installed, or choose another runner"))
    }
    let id =
      String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline).last?.prefix {
        $0.isNumber
      } ?? ""
    if end.exited(with: 0), isTest || !id.isEmpty { return .submitted(String(id)) }
    if end.stopped != nil { return .busy("sbatch did not end") }
    return SlurmCommands.refusal(String(decoding: errors, as: UTF8.self))
  }

  /// The meaning of what `sbatch` says when it fails (`slurm_errno.c`).
  static func refusal(_ errors: String) -> JobSubmission {
    let lines = errors.split(whereSeparator: \.isNewline).map { line in
      line.hasPrefix("sbatch: error: ") ? String(line.dropFirst(15)) : String(line)
    }
    let reason = lines.last ?? "sbatch ended without a word"
    func says(_ texts: [String]) -> Bool { texts.contains { errors.contains($0) } }
    if says(["Invalid job array"]) { return .tooLarge }
    if says([
      "Unable to contact slurm controller", "Socket timed out", "temporarily", "Connection refused",
      "Zero Bytes were transmitted", "Slurm backup controller", "submit limit", "MaxSubmitJob",
    ]) {
      return .busy(reason)
    }
    let isLimit = says([
      "can not be satisfied", "node configuration is not available", "More processors requested",
      "time limit",
    ])
    return .refused(.notSubmitted(reason, isLimit: isLimit))
  }

  /// The jobs of a run; `nil` if Slurm does not tell.
  func list(_ run: RunID) -> JobQueue? {
    guard let (end, output, _) = try? self.run(SlurmQueue.arguments, with: SlurmQueue.variables),
      end.exited(with: 0)
    else { return nil }
    return SlurmQueue.jobs(of: run, in: output)
  }

  /// The records of jobs that are over, if the cluster keeps any.
  func recall(_ ids: [String]) -> [String: JobRecord] {
    guard let (end, output, _) = try? run(SlurmRecords.arguments(ids)), end.exited(with: 0) else {
      return [:]
    }
    return SlurmRecords.records(in: output)
  }

  /// Ends jobs, with the grace period of the cluster; or sends all their processes a signal.
  ///
  /// - Returns: Whether Slurm accepted it.
  @discardableResult
  func cancel(_ ids: [String], signal: String? = nil) -> Bool {
    var isAccepted = true
    for start in stride(from: 0, to: ids.count, by: 500) {
      let options = signal.map { ["--signal=\($0)", "--full"] } ?? []
      let arguments = ["scancel", "--quiet"] + options + ids[start..<min(start + 500, ids.count)]
      isAccepted = (try? run(arguments))?.end.exited(with: 0) == true && isAccepted
    }
    return isAccepted
  }

  private func run(
    _ arguments: [String], with variables: [(name: String, value: String?)] = [],
    input: [UInt8] = []
  ) throws(SpawnError) -> (end: ProgramEnd, output: [UInt8], errors: [UInt8]) {
    let (setting, stop, patience) = state.withLock { ($0.setting, $0.stop, $0.patience) }
    guard let setting else {
      preconditionFailure("a command of Slurm is run before it is prepared")
    }
    // Variables that the environment cannot have change nothing.
    let environment = (try? setting.environment.setting(variables)) ?? setting.environment
    var program = ChildProgram(arguments, environment: environment)
    program.input = .bytes(input)
    program.timeout = patience
    return try program.runCollecting(in: setting.containment, stop: stop)
  }
}

/// The requests of a job to its cluster.
struct SlurmRequest: Hashable {
  /// Arguments of `sbatch`, whose last value of an option counts.
  let arguments: [String]

  /// - Parameter timeout: The time limit of the step, after which the cluster may end the job, if no time is requested.
  init(_ cluster: SlurmCluster, _ resources: Command.Resources?, timeout: Duration?) {
    var arguments = SlurmCluster.Request.allCases.compactMap { request in
      cluster.requests[request].map { "--\(request.rawValue)=\($0)" }
    }
    arguments += cluster.options
    if let cpus = resources?.cpus { arguments.append("--cpus-per-task=\(cpus)") }
    if let memory = resources?.memory { arguments.append("--mem=\((memory.bytes + 1023) / 1024)K") }
    if let gpus = resources?.gpus { arguments.append("--gpus=\(gpus)") }
    // The engine ends the program after its time limit; the cluster does if there is no engine any more.
    let minutes = resources?.time.map { max(1, $0.minutesUp) } ?? timeout.map { $0.minutesUp + 1 }
    if let minutes { arguments.append("--time=\(minutes)") }
    self.arguments = arguments
  }
}

extension Duration {
  fileprivate var minutesUp: Int {
    let seconds = components.seconds + (components.attoseconds > 0 ? 1 : 0)
    return Int((seconds + 59) / 60)
  }
}
