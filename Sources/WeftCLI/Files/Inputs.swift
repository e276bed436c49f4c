import Weft
import WeftEvents
import WeftPlatform

/// Collects the inputs that the command line gives to a workflow.
private struct InputCollection {
  private let declarations: [InputDeclaration]
  private var given: [GivenInput] = []
  private var diagnostics: [Diagnostic] = []

  /// - Parameter recorded: The inputs of a resumed run.
  init(_ declarations: [InputDeclaration], recorded: [ReportedOutput]) {
    self.declarations = declarations.demanding(recorded)
    given = declarations.given(recorded)
  }

  fileprivate func bound(allowsMissing: Bool) throws(CommandFailure) -> InputValues {
    // Missing inputs may be in the file that could not be parsed.
    let isOpen = allowsMissing || !diagnostics.isEmpty
    var all = diagnostics
    do {
      let values = try InputBinding.bind(
        declarations, given, inputSource: .commandLine, allowsMissing: isOpen)
      if all.isEmpty { return values }
    } catch {
      all += error.diagnostics
    }
    throw CommandFailure(.usage, all)
  }

  // MARK: --no-prompt

  /// Asks for the inputs that are missing, if nothing else is wrong.
  ///
  /// - Throws: If the user interrupts the questions.
  mutating func ask(at terminal: ControllingTerminal) throws(CommandFailure) {
    guard diagnostics.isEmpty else { return }
    do {
      _ = try InputBinding.bind(declarations, given, inputSource: .commandLine)
    } catch {
      guard error.faults.allSatisfy({ $0.kind == .missing }) else { return }
      for fault in error.faults {
        guard let declaration = declarations.first(where: { $0.name.text == fault.name }),
          let answer = try InputQuestion(declaration).ask(at: terminal)
        else { return }
        given.append(answer)
      }
    }
  }

  // MARK: -i

  mutating func take(_ argument: InputArgument) {
    given.append(
      GivenInput(argument.name, content(of: argument), .option(argument.spelling)))
  }

  private func content(of argument: InputArgument) -> GivenInput.Content {
    switch argument.source {
    case .given(let text): return argument.isJSON ? .json(text) : .text(text)
    case .file(let path):
      do {
        let bytes = try FileReading.bytes(of: path, limit: WorkflowLimits.inputBytes)
        guard let text = String(validating: bytes.withoutLineEnd, as: UTF8.self) else {
          return .unread("is not UTF-8", help: "save the file as UTF-8")
        }
        return argument.isJSON ? .json(text) : .text(text)
      } catch {
        return .unread(error.message)
      }
    }
  }

  // MARK: --inputs

  mutating func take(file path: String) {
    let name = path == "-" ? "<stdin>" : path
    let bytes: [UInt8]
    do { bytes = try FileReading.bytes(of: path) } catch {
      diagnostics.append(
        Diagnostic(
          .error, code: "W0000", message: "\"\(name)\", for --inputs, \(error.message)", place: nil)
      )
      return
    }
    let file = SourceFile(path: name, bytes: bytes)
    let (root, found) = JSONReader.read(file)
    let foreign = ForeignFormat.diagnostic(ofText: file, problems: found)
    diagnostics += (foreign.map { [$0] } ?? found).map(withoutExcerpt)
    guard let root, !found.contains(where: \.isError) else { return }
    guard root.kind == .object else {
      diagnostics.append(
        withoutExcerpt(
          Diagnostic(
            .error, code: DefinitionCode.wrongType.rawValue,
            message: "a file of inputs holds one object, found \(root.noun)", place: root.place,
            help: "write { \"NAME\": value }")))
      return
    }
    given += GivenInput.all(in: root)
  }

  /// Removes the excerpt and message of a diagnostic about a file with secrets, which might reveal one.
  private func withoutExcerpt(_ diagnostic: Diagnostic) -> Diagnostic {
    guard declarations.contains(where: \.isSecret), let place = diagnostic.place else {
      return diagnostic
    }
    let position = place.file.position(of: Int(place.range.start))
    return Diagnostic(
      diagnostic.severity, code: diagnostic.code,
      message: "\(place.file.path) is not an object of inputs in JSON, "
        + "at \(position.line):\(position.column)", place: nil)
  }
}

extension [UInt8] {
  /// The bytes without a final line end, as for a step's output.
  fileprivate var withoutLineEnd: ArraySlice<UInt8> {
    guard last == UInt8(ascii: "\n") else { return self[...] }
    let rest = dropLast()
    return rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest
  }
}

/// The inputs on the command line, and the arguments of the run.
struct InputOptions: Sendable, Hashable {
  /// The values of `-i`, in order.
  let arguments: [InputArgument]
  /// The value of `--inputs`: a JSON file with several inputs; `-` is standard input.
  let file: String?
  /// The words after `--`.
  let passed: [String]
  /// Whether to ask for missing inputs if there is a terminal.
  private let mayPrompt: Bool

  init(_ parsed: ParsedArguments) throws(UsageError) {
    var arguments: [InputArgument] = []
    for text in parsed.values(of: .input) {
      guard let argument = InputArgument(text), argument.source != .file("") else {
        throw .wrongValue(
          of: "\"-i\"", found: text, wanted: "NAME=VALUE or NAME=@FILE",
          help: "for example: -i version=1.2.0; NAME:=JSON gives any JSON value", parsed.command)
      }
      arguments.append(argument)
    }
    let files = parsed.values(of: .inputs)
    guard files.count <= 1 else { throw .repeatedOption(.inputs, parsed.command) }
    self.arguments = arguments
    file = files.first
    passed = parsed.passed
    // A watched run starts again by itself.
    mayPrompt = !parsed.isGiven(.noPrompt) && !parsed.isGiven(.watch)
    try checkStandardInput(parsed)
  }

  /// Reads the inputs and checks them against the declarations of a workflow.
  ///
  /// - Parameters:
  ///   - allowsMissing: Whether missing inputs are permitted.
  ///   - recorded: The inputs of a resumed run.
  /// - Throws: All errors.
  func values(
    for workflow: Workflow, allowsMissing: Bool = false, recorded: [ReportedOutput] = []
  ) throws(CommandFailure) -> InputValues {
    var collection = InputCollection(workflow.inputs, recorded: recorded)
    for argument in arguments { collection.take(argument) }
    if let file { collection.take(file: file) }
    if !allowsMissing, mayPrompt, let terminal = ControllingTerminal.ofUser {
      try collection.ask(at: terminal)
    }
    var values = try collection.bound(allowsMissing: allowsMissing)
    values.arguments = passed
    return values
  }

  /// Rejects a second reader of standard input, because the first one consumes it.
  private func checkStandardInput(_ parsed: ParsedArguments) throws(UsageError) {
    let readers = standardInputReaders(parsed)
    guard readers.count <= 1 else {
      throw .standardInputTwice(readers[0], readers[1], parsed.command)
    }
  }

  /// The operands and options that read standard input, for messages.
  func standardInputReaders(_ parsed: ParsedArguments) -> [String] {
    var readers: [String] = parsed.operands.first == "-" ? ["the workflow"] : []
    if file == "-" { readers.append("--inputs") }
    return readers + arguments.filter(\.readsStandardInput).map(\.spelling)
  }
}

/// The value of one `-i`: a name, and the source of its value.
///
/// | argument | value |
/// |---|---|
/// | `name=text` | the text, parsed according to the declared type |
/// | `name=@file` | the content of a file without its last line end, parsed likewise; `@-` is standard input |
/// | `name=@@text` | a text that begins with `@` |
/// | `name:=json` | a JSON value, whatever the type; `name:=@file` from a file |
struct InputArgument: Sendable, Hashable {
  enum Source: Sendable, Hashable {
    case given(String)
    case file(String)
  }

  let name: String
  /// Whether the value is JSON, rather than text to parse according to the declared type.
  let isJSON: Bool
  let source: Source

  /// `nil` if the argument does not have this form.
  init?(_ argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    isJSON = parts[0].hasSuffix(":")
    name = String(isJSON ? parts[0].dropLast() : parts[0])
    guard !name.isEmpty else { return nil }
    let value = parts[1]
    if !value.hasPrefix("@") {
      source = .given(String(value))
    } else if value.hasPrefix("@@") {
      source = .given(String(value.dropFirst()))
    } else {
      source = .file(String(value.dropFirst()))
    }
  }

  /// The form for messages: without the value, which may be secret.
  var spelling: String {
    if case .file(let path) = source { return "-i \(name)\(isJSON ? ":" : "")=@\(path)" }
    return "-i \(name)\(isJSON ? ":=" : "")"
  }

  /// Whether it reads standard input.
  var readsStandardInput: Bool { source == .file("-") }
}

/// A question for an input that is required and was not given.
struct InputQuestion {
  private let declaration: InputDeclaration

  /// The allowed values, if there is a list of them.
  private let choices: [String]

  init(_ declaration: InputDeclaration) {
    self.declaration = declaration
    choices = declaration.schema.allowed.isEmpty ? [] : declaration.schema.answers
  }

  /// The description of the input and its numbered choices.
  var introduction: String {
    let choices = choices.enumerated().map { "  \($0 + 1)) \($1)" }
    return ([InputBinding.note(on: declaration)] + choices)
      .map { TerminalText.harmless($0) + "\n" }.joined()
  }

  var prompt: String {
    let count = choices.count
    let hint = declaration.isSecret ? " (hidden)" : count > 1 ? " [1-\(count)]" : ""
    return "\(declaration.name)\(hint): "
  }

  /// Reads an answer: a choice or its number, else a value as after `-i NAME=`.
  ///
  /// - Returns: The value, or what is wrong with it.
  func answer(_ line: String) -> Result<GivenInput, InputsError> {
    let position =
      choices.firstIndex(of: line)
      ?? Int(line).flatMap { $0 >= 1 && $0 <= choices.count ? $0 - 1 : nil }
    let content: GivenInput.Content =
      position.map { .value(declaration.schema.allowed[$0]) } ?? .text(line)
    let given = GivenInput(declaration.name.text, content, .program)
    do {
      _ = try InputBinding.bind([declaration], [given], inputSource: .commandLine)
      return .success(given)
    } catch {
      return .failure(error)
    }
  }

  /// Asks until an answer fits.
  ///
  /// - Returns: `nil` at the end of input.
  /// - Throws: If the user interrupts a hidden answer.
  func ask(at terminal: ControllingTerminal) throws(CommandFailure) -> GivenInput? {
    var prompt = introduction + prompt
    while true {
      switch terminal.reply(to: prompt, isHidden: declaration.isSecret) {
      case .end: return nil
      case .interrupt: throw CommandFailure(.signal(Signal.interrupt.rawValue))
      case .line(""): prompt = "write a value, or press ^D to stop\n" + self.prompt
      case .line(let line):
        switch answer(line) {
        case .success(let given): return given
        case .failure(let error):
          let messages = error.diagnostics.map { TerminalText.harmless($0.message) + "\n" }
          prompt = messages.joined() + self.prompt
        }
      }
    }
  }
}

extension ValueSchema {
  /// The allowed values as they are typed; empty if it has no list of them.
  var answers: [String] {
    if allowed.isEmpty, types == [.boolean] { return ["true", "false"] }
    return allowed.map { if case .string(let text) = $0 { text } else { $0.description } }
  }
}

extension ControllingTerminal {
  /// The terminal at which a user can answer: standard input and standard error both lead to it.
  static var ofUser: ControllingTerminal? {
    guard Descriptor.standardInput.isTerminal, Descriptor.standardError.isTerminal else {
      return nil
    }
    return try? ControllingTerminal()
  }
}
