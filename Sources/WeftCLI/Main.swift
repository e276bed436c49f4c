import Weft
import WeftEvents
import WeftPlatform

/// The command-line program `weft`.
///
/// The order of events: ``ArgumentParser`` parses the arguments, using the table of commands and options from which
/// help and completions are also generated; a ``Subcommand`` interprets the values and is executed; an ``ExitCode`` is
/// the result. `weft run` is ``RunCommand`` up to a plan, then ``RunSession``; both only display a run of the library.
@main
enum Main {
  static func main() {
    ThisProcess.fillStandardStreams()
    SignalListener.ignoreBrokenPipes()
    SignalListener.ignoreFileSizeLimits()
    SignalListener.restoreChildSignal()
    SignalListener.restoreQuitSignal()
    SignalListener.settleDispositions()
    let code = Program().run(ThisProcess.arguments)
    ThisProcess.exit(code.status)
  }
}

/// A command of the program, with its values interpreted.
protocol Subcommand {
  init(_ parsed: ParsedArguments) throws(UsageError)

  /// - Throws: The reason why the command did nothing.
  func execute(_ console: Console) throws(CommandFailure) -> ExitCode
}

/// The program, from its arguments to its exit code.
struct Program {
  private let console = Console()

  /// - Parameter arguments: The arguments without the program's name.
  func run(_ arguments: [[UInt8]]) -> ExitCode {
    do {
      let words = try Program.decoded(arguments)
      if words.first == ProposedNames.call {
        let names = ProposedNames(words.dropFirst())?.names() ?? []
        console.output.write(names.map { $0 + "\n" }.joined())
        return console.close(.success)
      }
      let given = try ArgumentParser.parse(words)
      let parsed: ParsedArguments
      do throws(CommandFailure) {
        if let directory = given.value(of: .directory) { try Program.change(to: directory) }
        parsed = try given.locatingWorkflow(console)
      } catch {
        return console.close(console.refuse(error))
      }
      let command = try Program.command(parsed)
      do throws(CommandFailure) {
        return console.close(try command.execute(console))
      } catch {
        return console.close(console.refuse(error))
      }
    } catch {
      if error == .noCommand { console.errors.write(HelpText.overview + "\n") }
      console.report(CommandError(error.message, help: error.help))
      return console.close(.usage)
    }
  }

  private static func command(
    _ parsed: ParsedArguments
  ) throws(UsageError) -> any Subcommand {
    switch parsed.command {
    case .run where parsed.isGiven(.help): ExplainCommand(parsed)
    case .run: try RunCommand(parsed)
    case .resume: try ResumeCommand(parsed)
    case .runs: try RunsCommand(parsed)
    case .approve: ApproveCommand(parsed)
    case .cancel: CancelCommand(parsed)
    case .show: try ShowCommand(parsed)
    case .logs: LogsCommand(parsed)
    case .report: try ReportCommand(parsed)
    case .diff: try DiffCommand(parsed)
    case .check: try CheckCommand(parsed)
    case .fmt: FormatCommand(parsed)
    case .lsp: LanguageServerCommand(parsed)
    case .list: try ListCommand(parsed)
    case .graph: try GraphCommand(parsed)
    case .why: try WhyCommand(parsed)
    case .estimate: try EstimateCommand(parsed)
    case .eval: EvalCommand(parsed)
    case .test: try TestCommand(parsed)
    case .reap: ReapCommand(parsed)
    case .clean: try CleanCommand(parsed)
    case .`init`: InitCommand(parsed)
    case .schema, .completions, .help, .version: try PrintCommand(parsed)
    }
  }

  private static func decoded(_ arguments: [[UInt8]]) throws(UsageError) -> [String] {
    var words: [String] = []
    for argument in arguments {
      guard let word = String(validating: argument, as: UTF8.self) else {
        let (position, visible) = (words.count + 1, String(decoding: argument, as: UTF8.self))
        if let name = inputName(in: visible, after: words) {
          throw .inputNotUTF8(name: name, position: position)
        }
        throw .notUTF8(position: position, visible: visible)
      }
      words.append(word)
    }
    return words
  }

  /// The name of the input that an argument sets; `nil` if it sets none.
  private static func inputName(in argument: String, after words: [String]) -> String? {
    if words.contains("--") { return nil }
    let spellings = ["-i", Option.input.name]
    if let last = words.last, spellings.contains(last) { return InputArgument(argument)?.name }
    for spelling in ["-i", "\(Option.input.name)="] where argument.hasPrefix(spelling) {
      return InputArgument(String(argument.dropFirst(spelling.count)))?.name
    }
    return nil
  }

  /// Changes the working directory, like `make -C`.
  static func change(to directory: String) throws(CommandFailure) {
    do { try FileSystem.changeDirectory(to: directory) } catch {
      throw CommandFailure(.usage, "cannot change to \"\(directory)\" (-C): \(error)")
    }
  }
}

/// The commands that print a text built into the program.
private struct PrintCommand: Subcommand {
  private let text: String

  init(_ parsed: ParsedArguments) throws(UsageError) {
    switch parsed.command {
    case .schema: text = (try parsed.operandWord() ?? SchemaName.workflow).text
    case .completions: text = (try parsed.operandWord() as CompletionShell?)!.script
    case .version: text = "weft \(WeftVersion.current)\n"
    default:
      if parsed.isGiven(.manual) {
        text = ManualPage.text
        return
      }
      let name: CommandName? = try parsed.operandWord()
      text = name.map { HelpText.text(for: .named($0)) } ?? HelpText.overview
    }
  }

  func execute(_ console: Console) -> ExitCode {
    console.output.write(text)
    return .success
  }
}

/// Deliberately leaked: exiting is faster than freeing a large plan object by object.
enum DeliberateLeak {
  private final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
  }

  static func untilExit(_ value: some Sendable) { _ = Unmanaged.passRetained(Box(value)) }
}
