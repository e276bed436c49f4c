/// The requested command, with all its values interpreted.
enum Invocation: Sendable, Hashable {
  case run(RunInvocation)
  case resume(ResumeInvocation)
  /// Explains the inputs of a file.
  case explain(file: String, directory: String?)
  case runs(RunsInvocation)
  case show(ShowInvocation)
  case approve(ApproveInvocation)
  case cancel(CancelInvocation)
  case logs(LogsInvocation)
  case check(CheckInvocation)
  case graph(GraphInvocation)
  case why(WhyInvocation)
  case eval(EvalInvocation)
  case reap(ReapInvocation)
  case clean(CleanInvocation)
  case schema(SchemaName)
  case initialise(path: String)
  case completions(CompletionShell)
  /// `nil` for all commands.
  case help(CommandName?)
  case version

  /// - Parameter arguments: The arguments without the program's name.
  init(_ arguments: [String]) throws(UsageError) {
    try self.init(try ArgumentParser.parse(arguments))
  }

  init(_ parsed: ParsedArguments) throws(UsageError) {
    switch parsed.command {
    case .run where parsed.isGiven(.help):
      self = .explain(file: parsed.operands[0], directory: parsed.value(of: .directory))
    case .run: self = .run(try RunInvocation(parsed, file: parsed.operands[0]))
    case .resume: self = .resume(try ResumeInvocation(parsed))
    case .runs: self = .runs(try RunsInvocation(parsed))
    case .approve: self = .approve(ApproveInvocation(parsed))
    case .cancel: self = .cancel(CancelInvocation(parsed))
    case .show: self = .show(try ShowInvocation(parsed))
    case .logs: self = .logs(LogsInvocation(parsed))
    case .check: self = .check(try CheckInvocation(parsed))
    case .graph: self = .graph(try GraphInvocation(parsed))
    case .why: self = .why(try WhyInvocation(parsed))
    case .eval: self = .eval(EvalInvocation(parsed))
    case .reap: self = .reap(ReapInvocation(parsed))
    case .clean: self = .clean(try CleanInvocation(parsed))
    case .schema: self = .schema(try parsed.operandWord() ?? .workflow)
    case .`init`: self = .initialise(path: parsed.operands.first ?? "workflow.json")
    case .completions: self = .completions(try parsed.operandWord()!)
    case .help: self = .help(try parsed.operandWord())
    case .version: self = .version
    }
  }
}

struct CheckInvocation: Sendable, Hashable {
  /// At least one file.
  let files: [String]
  let format: DiagnosticFormat
  let isStrict: Bool
  /// The directory that paths are relative to; `nil` for that of the process.
  let directory: String?

  init(_ parsed: ParsedArguments) throws(UsageError) {
    files = parsed.operands
    format = try parsed.word(of: .diagnosticFormat) ?? .text
    isStrict = parsed.isGiven(.strictCheck)
    directory = parsed.value(of: .directory)
  }
}

/// The output formats of `weft check`.
enum DiagnosticFormat: String, CaseIterable {
  case text, json, sarif, github
}
