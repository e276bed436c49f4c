import WeftDefinition
package import WeftDiagnostics
import WeftEvents
package import WeftPlanning
import WeftPlatform

/// Asks the runners of a plan whether they would take its commands: `weft check --probe`.
///
/// A host is asked to enter its directory, with the same script that runs programs; a cluster, by `sbatch --test-only`,
/// for each distinct request of steps. Values of `resources` that are computed are left out.
package struct RunnerProbe {
  private let plan: Plan
  private let startDirectory: String?
  private let environment = EnvironmentBlock.inherited()
  private let stop = StopSwitch()

  /// - Parameter startDirectory: The directory of runs; `nil` for that of this process.
  package init(of plan: Plan, startDirectory: String? = nil) {
    self.plan = plan
    self.startDirectory = startDirectory
  }

  /// Blocks until all have answered, or did not within a time limit.
  package func problems() -> [Diagnostic] {
    var asked: Set<Question> = []
    var problems: [Diagnostic] = []
    for step in plan.steps {
      guard let runner = plan.runner(of: step) else { continue }
      for question in questions(about: step, to: runner) where asked.insert(question).inserted {
        guard let reason = answer(to: question) else { continue }
        problems.append(.runnerRefuses(runner.name, step.address, reason))
      }
    }
    return problems
  }

  private enum Question: Hashable {
    case host(String, of: SSHHosts)
    case request(SlurmRequest)
  }

  private func questions(about step: PlannedStep, to runner: Runner) -> [Question] {
    switch runner.kind {
    case .ssh(let hosts): hosts.names.map { .host($0, of: hosts) }
    case .slurm(let cluster):
      [.request(SlurmRequest(cluster, step.command?.resources, timeout: step.step.timeout))]
    }
  }

  /// - Returns: The reason why it would fail; `nil` if it would not.
  private func answer(to question: Question) -> StepFailure? {
    switch question {
    case .host(let host, let hosts): return ask(host, of: hosts)
    case .request(let request):
      let commands = SlurmCommands()
      commands.prepare(environment, in: nil)
      let arguments = ["sbatch", "--test-only", "--output=/dev/null"] + request.arguments
      switch commands.submit(arguments, script: "#!/bin/sh\n", isTest: true) {
      case .submitted: return nil
      case .tooLarge: return .notSubmitted("the array is not accepted", isLimit: true)
      case .busy(let reason): return .notSubmitted(reason, isLimit: false)
      case .refused(let failure): return failure
      }
    }
  }

  private func ask(_ host: String, of hosts: SSHHosts) -> StepFailure? {
    let directory =
      hosts.workingDirectory ?? startDirectory ?? (try? FileSystem.currentDirectory()) ?? "/"
    let word = RemoteProgram.word()
    var program = ChildProgram(
      hosts.command(RemoteSupervisor.command, on: host, by: nil, isMaster: false),
      environment: environment)
    let remote = RemoteProgram(arguments: ["true"], variables: [], directory: directory)
    program.input = .held(RemoteSupervisor.input(for: remote, word: word))
    program.timeout = .seconds(60)
    let output = RemoteOutput(NoOutput(), word: word)
    do { _ = try program.run(stop: stop, output: output) } catch { return StepFailure(error) }
    guard let end = output.phase.end else {
      return .notConnected(to: host, saying: output.preamble)
    }
    return end.status == .noDirectory ? .noDirectory(on: host, directory) : nil
  }
}

/// Output that is not kept.
private struct NoOutput: ProgramOutput {
  var alarm: Duration? { nil }
  func take(_: UnsafeRawBufferPointer, from _: OutputStream, at _: Duration) {}
  func timePassed(until _: Duration) {}
}

extension Diagnostic {
  /// The code of problems that a ``RunnerProbe`` finds.
  package static let refusalByRunner = "W0433"

  fileprivate static func runnerRefuses(
    _ runner: String, _ step: StepAddress, _ failure: StepFailure
  ) -> Diagnostic {
    let prefix = "did not start: "
    let reason =
      failure.message.hasPrefix(prefix)
      ? String(failure.message.dropFirst(prefix.count)) : failure.message
    return Diagnostic(
      .error, code: refusalByRunner,
      message: "runner \(quoted(runner)) would not run \(quoted(step.text)): \(reason)",
      place: nil, help: failure.help)
  }
}
