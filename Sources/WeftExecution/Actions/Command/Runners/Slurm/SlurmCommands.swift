import Synchronization
import WeftDefinition
import WeftDiagnostics
import WeftEncoding
import WeftEvents
import WeftPlatform

/// The commands of Slurm, run one after the other on the calling thread.
final class SlurmCommands: Sendable {
  enum Submission {
    /// The number of the job or of the array.
    case submitted(String)
    /// The array has too many jobs.
    case tooLarge
    /// Slurm does not answer, or takes no more jobs now.
    case busy(String)
    case refused(StepFailure)
  }

  private struct Setting {
    let environment: EnvironmentBlock
    let containment: (any Containment)?
  }

  private let setting = Mutex<Setting?>(nil)

  /// Must be called before the first command. Jobs get the environment of this process.
  func prepare(_ executor: CommandExecutor) throws(EnvironmentError) {
    if isReady { return }
    prepare(try executor.resolver.ownEnvironment([]), in: executor.enclosing)
  }

  func prepare(_ environment: EnvironmentBlock, in containment: (any Containment)?) {
    setting.withLock { $0 = Setting(environment: environment, containment: containment) }
  }

  var isReady: Bool { setting.withLock { $0 != nil } }

  /// - Parameter isTest: Whether `sbatch` only says if it would accept the job, which gets no number.
  func submit(_ arguments: [String], script: String, isTest: Bool = false) -> Submission {
    let (end, output, errors): (ProgramEnd, String, String)
    do { (end, output, errors) = try run(arguments, input: Array(script.utf8)) } catch {
      return .refused(
        StepFailure(
          classes: [.spawn], message: "did not start: sbatch: \(error.message)",
          help: "run weft where Slurm's commands are installed, or choose another runner"))
    }
    let id = output.split(whereSeparator: \.isNewline).last?.prefix { $0.isNumber } ?? ""
    if end.exited(with: 0), isTest || !id.isEmpty { return .submitted(String(id)) }
    if end.stopped != nil { return .busy("sbatch did not end") }
    return SlurmCommands.refusal(errors)
  }

  /// The meaning of what `sbatch` says when it fails (`slurm_errno.c`).
  static func refusal(_ errors: String) -> Submission {
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
  func list(_ run: RunID) -> SlurmQueue? {
    guard let (end, output, _) = try? self.run(SlurmQueue.arguments), end.exited(with: 0) else {
      return nil
    }
    return SlurmQueue(output, run: run)
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
      isAccepted = (try? run(arguments))?.0.exited(with: 0) == true && isAccepted
    }
    return isAccepted
  }

  private func run(
    _ arguments: [String], input: [UInt8] = []
  ) throws(SpawnError) -> (ProgramEnd, output: String, errors: String) {
    guard let setting = setting.withLock(\.self) else {
      preconditionFailure("a command of Slurm is run before it is prepared")
    }
    var program = ChildProgram(arguments, environment: setting.environment)
    program.input = .bytes(input)
    program.timeout = .seconds(120)
    let printed = Mutex<(output: [UInt8], errors: [UInt8])>(([], []))
    let end = try program.run(in: setting.containment, stop: StopSwitch()) { stream, bytes in
      printed.withLock { printed in
        if stream == .output { printed.output += bytes } else { printed.errors += bytes }
      }
    }
    let (output, errors) = printed.withLock(\.self)
    return (end, String(decoding: output, as: UTF8.self), String(decoding: errors, as: UTF8.self))
  }
}
