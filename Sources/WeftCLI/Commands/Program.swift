import WeftEvents

/// The program, from its arguments to its exit code.
struct Program {
  let console = Console()

  /// - Parameter arguments: The arguments without the program's name.
  func run(_ arguments: [[UInt8]]) -> ExitCode {
    do {
      let parsed = try ArgumentParser.parse(try Program.decoded(arguments))
      let invocation = try Invocation(parsed)
      if let complaint = WorkingDirectory.change(to: parsed.value(of: .directory)) {
        console.complain(complaint)
        return console.close(.usage)
      }
      return console.close(execute(invocation))
    } catch {
      if error == .noCommand { console.errors.write(HelpText.overview + "\n") }
      console.complain(CommandError(error.message, help: error.help))
      return console.close(.usage)
    }
  }

  private func execute(_ invocation: Invocation) -> ExitCode {
    switch invocation {
    case .run(let invocation): return RunCommand(invocation, console).execute()
    case .resume(let invocation): return ResumeCommand(invocation, console).execute()
    case .runs(let invocation): return RunsCommand(invocation, console).execute()
    case .approve(let invocation): return ApproveCommand(invocation, console).execute()
    case .cancel(let invocation): return CancelCommand(invocation, console).execute()
    case .show(let invocation): return ShowCommand(invocation, console).execute()
    case .logs(let invocation): return LogsCommand(invocation, console).execute()
    case .explain(let file, let directory):
      return ExplainCommand(file: file, directory: directory, console).execute()
    case .check(let invocation): return CheckCommand(invocation, console).execute()
    case .graph(let invocation): return GraphCommand(invocation, console).execute()
    case .why(let invocation): return WhyCommand(invocation, console).execute()
    case .eval(let invocation): return EvalCommand(invocation, console).execute()
    case .initialise(let path): return InitCommand(path: path, console).execute()
    case .reap(let invocation): return ReapCommand(invocation, console).execute()
    case .clean(let invocation): return CleanCommand(invocation, console).execute()
    case .schema(let schema): console.output.write(schema.text)
    case .completions(let shell): console.output.write(shell.script)
    case .help(nil): console.output.write(HelpText.overview)
    case .help(let name?): console.output.write(HelpText.text(for: .named(name)))
    case .version: console.output.write("weft \(WeftVersion.current)\n")
    }
    return .success
  }

  private static func decoded(_ arguments: [[UInt8]]) throws(UsageError) -> [String] {
    var words: [String] = []
    for argument in arguments {
      guard let word = String(validating: argument, as: UTF8.self) else {
        throw .notUTF8(
          position: words.count + 1, visible: String(decoding: argument, as: UTF8.self))
      }
      words.append(word)
    }
    return words
  }
}
