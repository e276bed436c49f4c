import WeftDefinition
import WeftDiagnostics
import WeftPlatform

/// Script files, each read once.
struct ScriptFiles {
  /// A script that was read.
  struct Script {
    let file: SourceFile
    /// `nil` if it is no text.
    let text: String?
    let header: ScriptHeader
  }

  private(set) var known: [ConfinedPath: Script] = [:]

  /// Takes the bytes of a file, and returns the script with its problems.
  mutating func add(_ bytes: [UInt8], at path: ConfinedPath, called name: String) -> (
    Script, [Diagnostic]
  ) {
    let file = SourceFile(path: name, bytes: bytes)
    let problem = file.problemAsScript
    let text =
      problem == nil ? String(decoding: bytes.dropFirst(file.markLength), as: UTF8.self) : nil
    let script = Script(file: file, text: text, header: ScriptHeader(text ?? ""))
    known[path] = script
    return (script, problem.map { [$0] } ?? [])
  }
}

extension SourceFile {
  /// Why the file cannot be a script: it is empty, or not text.
  fileprivate var problemAsScript: Diagnostic? {
    guard bytes.count > markLength else {
      return .emptyScript(self)
    }
    if let nul = bytes.firstIndex(of: 0) { return .scriptIsNoText("U+0000", at: nul, in: self) }
    guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
    // Where the repaired text differs.
    let repaired = String(decoding: bytes, as: UTF8.self).utf8
    let offset = zip(bytes, repaired).prefix { $0 == $1 }.reduce(0) { count, _ in count + 1 }
    return .scriptIsNoText("a byte that is not UTF-8", at: offset, in: self)
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
      let read = try self.script(script.path, from: directory)
      script.text = read.text
      script.isRejected = read.text == nil
      if let range {
        step.place.value?.texts.append(TextPlace(.script, at: range, in: .file(read.file)))
      }
      switch read.header {
      case .shell(let shell) where step.settings.shell == nil: step.settings.shell = shell
      case .unknown(let program) where step.settings.shell == nil:
        script.isRejected = true
        report(.unknownInterpreter(program, of: script.path, in: read.file))
      case .none, .shell, .unknown: break
      }
      step.action.setInvocation(.file(script))
      return read.file
    } catch {
      script.isRejected = true
      step.action.setInvocation(.file(script))
      report(error, of: script.path, at: range, in: file, named: source)
      return nil
    }
  }

  private mutating func script(
    _ path: String, from directory: ConfinedPath
  ) throws(NamingError) -> ScriptFiles.Script {
    let found = try open(path, from: directory)
    if let known = scripts.known[found.path] { return known }
    let (script, problems) = scripts.add(
      try bytes(of: found), at: found.path, called: prefix + found.path.text)
    for problem in problems { report(problem) }
    return script
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
    _ found: String, at offset: Int, in file: SourceFile
  ) -> Diagnostic {
    Diagnostic(
      .error, code: "W0606", message: "found \(found), expected the text of a script",
      place: Place(file: file, range: SourceRange(start: offset, end: offset + 1)),
      help: "to run a program, write { \"run\": [\"./\(file.path)\"] }")
  }

  fileprivate static func unknownInterpreter(
    _ program: String, of path: String, in file: SourceFile
  ) -> Diagnostic {
    let line = file.bytes[file.markLength...].prefix { $0 != UInt8(ascii: "\n") }
    return Diagnostic(
      .error, code: "W0607",
      message: "the script names \(quoted(program)), which is no shell that Weft knows",
      place: Place(file: file, range: SourceRange(start: line.startIndex, end: line.endIndex)),
      help: program.hasSuffix("\r")
        ? "its lines end in CR LF: convert them to LF"
        : "give the step a \"shell\", or start the file as a program: "
          + "\"run\": [\"./\(path)\"]")
  }
}
