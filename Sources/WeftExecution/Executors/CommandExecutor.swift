import WeftDefinition
package import WeftFutures
package import WeftPlanning
package import WeftPlatform

/// Runs commands as child processes, each on a thread of its own that is blocked while the program runs.
package final class CommandExecutor: StepExecutor {
  private let resolver: CommandResolver
  private let threads: BlockingThreads
  private let stopPolicy: StopPolicy
  let terminal: (any TerminalAccess)?
  /// Steps by their address, for those whose log is another's input.
  private let indices: [StepAddress: Int]

  package init(plan: Plan, run: RunID, configuration: EngineConfiguration, threads: BlockingThreads)
  {
    resolver = CommandResolver(
      plan: plan, run: run, startDirectory: configuration.startDirectory, inheriting: .inherited())
    self.threads = threads
    stopPolicy = configuration.stopPolicy
    terminal = configuration.terminal
    indices = CommandExecutor.stepsReadByOthers(in: plan)
  }

  package func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    let promise = Promise<AttemptEnd, Never>(
      ifDropped: .success(AttemptEnd(.failed(.noThread("the thread ended before the program")))))
    do {
      try threads.submit(onThisThread: true) { [self] in promise.succeed(run(attempt)) }
    } catch {
      promise.succeed(AttemptEnd(.failed(.noThread(error.message))))
    }
    return promise.future
  }

  /// Runs the attempt's program to its end on the calling thread.
  private func run(_ attempt: Attempt) -> AttemptEnd {
    do throws(AttemptObstacle) {
      let program = try program(for: attempt)
      return AttemptEnd(try start(program, for: attempt), of: program)
    } catch {
      return AttemptEnd(error.status)
    }
  }

  private func program(for attempt: Attempt) throws(AttemptObstacle) -> ChildProgram {
    var program: ChildProgram
    do { program = try resolver.program(for: attempt) } catch { throw .environment(error) }
    let command = attempt.step.command
    program.stopPolicy = stopPolicy.following(command.stop)
    program.stallTimeout = command.stallTimeout
    program.mergesOutput = command.mergesOutput
    program.input = try input(of: attempt)
    return program
  }

  private func start(
    _ program: ChildProgram, for attempt: Attempt
  ) throws(AttemptObstacle) -> ProgramEnd {
    do {
      if attempt.step.command.usesTerminal {
        return try runAtTerminal(program, for: attempt)
      }
      return try program.run(stop: attempt.stop, output: attempt.output)
    } catch {
      throw .notStarted(error)
    }
  }

  private func input(of attempt: Attempt) throws(AttemptObstacle) -> ChildProgram.Input {
    switch attempt.step.command.stdin {
    case nil: return .null
    case .text(let text): return .bytes(Array(text.utf8))
    case .file(let path):
      let place = CommandExecutor.path(path, in: resolver.directory(of: attempt.step))
      do { return .file(try Descriptor.opened(forReading: place)) } catch {
        throw .input(path: place, error)
      }
    case .log(let need):
      guard let index = indices[StepAddress(need.name)] else {
        preconditionFailure("the planner let pass the log of \"\(need.name)\", which is no step")
      }
      do { return .file(try attempt.logs.copy(of: index)) } catch { throw .log(need.name, error) }
    }
  }

  private static func path(_ path: String, in directory: String?) -> String {
    guard let directory, !path.hasPrefix("/") else { return path }
    return directory + "/" + path
  }

  private static func stepsReadByOthers(in plan: Plan) -> [StepAddress: Int] {
    var names: Set<String> = []
    for step in plan.steps {
      if case .log(let need) = step.command.stdin { names.insert(need.name) }
    }
    guard !names.isEmpty else { return [:] }
    var indices: [StepAddress: Int] = [:]
    for (index, step) in plan.steps.enumerated() where names.contains(step.address.text) {
      indices[step.address] = index
    }
    return indices
  }
}
