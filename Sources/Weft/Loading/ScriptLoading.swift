import WeftDefinition
import WeftDiagnostics
import WeftPlatform

/// A script file that was read.
struct LoadedScript {
  let file: SourceFile
  /// `nil` if it is no text.
  let text: String?
  let header: ScriptHeader
  /// The reason why it cannot be a script, until it is reported.
  var problem: Diagnostic?
  /// The reason why only a step with a shell can run it, until it is reported.
  var interpreterProblem: Diagnostic?

  init(_ file: SourceFile) {
    self.file = file
    problem = file.problemAsScript
    text =
      problem == nil
      ? String(decoding: file.bytes.dropFirst(file.markLength), as: UTF8.self) : nil
    header = ScriptHeader(text ?? "")
    if case .unknown(let program) = header {
      interpreterProblem = .unknownInterpreter(program, in: file)
    }
  }
}

extension SourceFile {
  /// The reason why the file cannot be a script: it is empty, or not text.
  fileprivate var problemAsScript: Diagnostic? {
    guard bytes.count > markLength else {
      return .emptyScript(self)
    }
    return textFault.map { fault in
      .scriptIsNoText(
        fault.found, at: fault.offset, in: self,
        help: bytes[fault.offset] == 0 ? "" : "save it as UTF-8; ")
    }
  }
}

extension LoadingPass {
  /// Gives a step the text of its script file, and the shell that the file names.
  mutating func complete(
    _ script: ScriptFile, of step: inout Step, from directory: ConfinedPath, in file: Int,
    named source: SourceFile?
  ) -> SourceFile? {
    var script = script
    let range = script.place.value
    do throws(NamingError) {
      let found = try open(script.path, from: directory)
      var read = try loadedScript(found)
      report(&read.problem)
      script.text = read.text
      script.isRejected = read.text == nil
      if let range {
        step.place.value?.texts.append(TextPlace(.script, at: range, in: .file(read.file)))
      }
      switch read.header {
      case .shell(let shell) where step.settings.shell == nil: step.settings.shell = shell
      case .unknown where step.settings.shell == nil:
        script.text = nil  // as what it would be checked is not known
        script.isRejected = true
        report(&read.interpreterProblem)
      case .none, .shell, .unknown: break
      }
      scripts[found.path] = read
      step.action.setInvocation(.file(script))
      return read.file
    } catch {
      script.isRejected = true
      step.action.setInvocation(.file(script))
      report(error, of: script.path, at: range, in: file, named: source)
      return nil
    }
  }

  private mutating func loadedScript(_ found: NamedFile) throws(NamingError) -> LoadedScript {
    if let known = scripts[found.path] { return known }
    return LoadedScript(try source(of: found))
  }

  /// Reports a problem of a script file, and forgets it: several steps may run the file.
  private mutating func report(_ problem: inout Diagnostic?) {
    if let problem { report(problem) }
    problem = nil
  }
}

extension StepAction {
  fileprivate mutating func setInvocation(_ invocation: Command.Invocation) {
    guard case .run(var command) = self else { return }
    command.invocation = invocation
    self = .run(command)
  }
}

extension Diagnostic {
  fileprivate static func emptyScript(_ file: SourceFile) -> Diagnostic {
    Diagnostic(
      .error, code: "W0606", message: "the script is empty",
      place: Place(file: file, range: SourceRange(start: 0, end: 0)),
      help: "write a command into it, or remove the step")
  }

  fileprivate static func scriptIsNoText(
    _ found: String, at offset: Int, in file: SourceFile, help: String = ""
  ) -> Diagnostic {
    Diagnostic(
      .error, code: "W0606", message: "found \(found), expected the text of a script",
      place: Place(file: file, range: SourceRange(start: offset, end: offset + 1)),
      help: help + "to run a program, write \(asProgram(file))")
  }

  /// The action that starts a file as a program, as long as the step has no `cwd`.
  private static func asProgram(_ file: SourceFile) -> String {
    let path = file.path.hasPrefix("/") ? file.path : "./" + file.path
    return "\"run\": [\(quoted(path))]"
  }

  fileprivate static func unknownInterpreter(
    _ program: String, in file: SourceFile
  ) -> Diagnostic {
    let line = file.bytes[file.markLength...].prefix { $0 != UInt8(ascii: "\n") }
    return Diagnostic(
      .error, code: "W0607",
      message: "the script names \(quoted(program)), which is no shell that Weft knows",
      place: Place(file: file, range: SourceRange(start: line.startIndex, end: line.endIndex)),
      help: program.hasSuffix("\r")
        ? "its lines end in CR LF: convert them to LF"
        : "give the step a \"shell\", or start the file as a program: \(asProgram(file))")
  }
}
