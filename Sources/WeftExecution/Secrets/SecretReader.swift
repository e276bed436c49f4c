import WeftDefinition
package import WeftDiagnostics
import WeftEvents
package import WeftPlanning
package import WeftPlatform

/// Reads the secrets of a workflow, once, before anything of a run starts.
///
/// Descriptors are claimed at once, so that none of them can be mistaken for one that is opened later;
/// everything else is read by ``read(stop:)``.
package struct SecretReader {
  private let secrets: [PlannedSecret]
  private let startDirectory: String?
  private let descriptors: [Int32: Descriptor]
  private let environment: EnvironmentBlock
  private let files: EnvironmentFileReader

  /// - Parameters:
  ///   - secrets: The secrets that are needed.
  ///   - startDirectory: The base of relative paths and the directory of commands; `nil` for the current
  ///     directory of the process.
  package init(_ secrets: [PlannedSecret], startDirectory: String? = nil) {
    self.secrets = secrets
    self.startDirectory = startDirectory
    let numbers = secrets.compactMap { secret -> Int32? in
      guard case .descriptor(let number) = secret.declaration.source else { return nil }
      return number
    }
    descriptors = Descriptor.claiming(Set(numbers))
    environment = .inheritedWithoutJobs().hiding(secrets.map(\.declaration))
    files = EnvironmentFileReader(
      startDirectory: startDirectory, inheriting: environment, secrets: secrets.map(\.declaration))
  }

  /// Reads all secrets, on the calling thread. A source that several files share is read once.
  ///
  /// - Parameter stop: Ends the reading when requested.
  /// - Throws: Diagnostics for all secrets that cannot be read.
  package func read(stop: StopSwitch = StopSwitch()) throws(SecretsReadError) -> RunSecrets {
    var values: [RunSecrets.Key: Secret] = [:]
    var known: [SecretSource: Secret] = [:]
    var diagnostics: [Diagnostic] = []
    for planned in secrets {
      let (declaration, source) = (planned.declaration, planned.declaration.source)
      do throws(SecretError) {
        let secret = if let known = known[source] { known } else { try secret(source, stop: stop) }
        known[source] = secret
        values[RunSecrets.Key(declaration.name, inFile: planned.file)] = secret
      } catch {
        diagnostics.append(error.diagnostic(of: declaration, in: planned.source))
      }
      // The secrets after it have not failed.
      if stop.level > .none { break }
    }
    guard diagnostics.isEmpty else { throw SecretsReadError(diagnostics: diagnostics) }
    return RunSecrets(byFile: values)
  }

  private func secret(
    _ source: SecretSource, stop: StopSwitch
  ) throws(SecretError) -> Secret {
    let bytes: [UInt8]
    switch source {
    case .environment(let name):
      guard let value = ThisProcess.variableBytes(name) else { throw .variableMissing(name) }
      bytes = value
    case .file(let path): bytes = try contents(of: path).withoutLastNewline
    case .command(let arguments, let timeout):
      let limit = timeout ?? WorkflowLimits.secretCommandTimeout
      bytes = try output(of: arguments, within: limit, stop: stop).withoutLastNewline
    case .environmentFile(let path, let name): bytes = try variable(name, in: path)
    case .descriptor(let number):
      bytes = try contents(ofDescriptor: number, stop: stop).withoutLastNewline
    }
    do { return try Secret(bytes) } catch { throw .unfit(error, source) }
  }

  /// Beyond this, a value is too long even without its newline.
  private static let limit = Secret.mostBytes + 2

  private func contents(of path: String) throws(SecretError) -> [UInt8] {
    do {
      return try FileReading.bytes(
        of: EnvironmentFileReader.place(of: path, in: startDirectory), limit: SecretReader.limit)
    } catch {
      if case .tooLarge = error { throw .unfit(.tooLong, .file(path)) }
      throw .file(path, error)
    }
  }

  private func variable(_ name: String, in path: String) throws(SecretError) -> [UInt8] {
    let variables: [String: String]
    do throws(EnvironmentFileError) {
      variables = try files.variables(of: EnvironmentFile(path: path), wanted: name)
    } catch {
      switch error {
      case .unreadable(let error): throw .file(path, error)
      case .malformed(let error): throw .environmentFile(path, error)
      }
    }
    guard let value = variables[name] else { throw .variableNotInFile(name, path) }
    return Array(value.utf8)
  }

  private func contents(
    ofDescriptor number: Int32, stop: StopSwitch
  ) throws(SecretError) -> [UInt8] {
    guard let descriptor = descriptors[number] else { throw .descriptorClosed(number) }
    let limit = WorkflowLimits.secretCommandTimeout
    do {
      return try descriptor.readToEnd(
        limit: SecretReader.limit, stop: stop, until: MonotonicClock.now + limit)
    } catch {
      switch error {
      case .tooLarge: throw .unfit(.tooLong, .descriptor(number))
      case .timedOut: throw .descriptorTimedOut(number, after: limit)
      case .stopped: throw .stopped
      case .system(let error): throw .descriptor(number, error)
      }
    }
  }

  /// The output of a program. Its standard error is discarded, because it may contain the secret.
  private func output(
    of arguments: [String], within limit: Duration, stop: StopSwitch
  ) throws(SecretError) -> [UInt8] {
    let (containment, environment) = contained()
    defer { containment?.close() }
    var program = ChildProgram(arguments, environment: environment, directory: startDirectory)
    program.timeout = limit
    program.stopPolicy = StopPolicy(grace: .seconds(2))
    // A child that keeps running, such as an agent, is of use to the user.
    program.keepsLeftovers = true
    var bytes: [UInt8] = []
    let end: ProgramEnd
    do {
      end = try program.run(in: containment, stop: stop) { stream, piece in
        guard stream == .output else { return }
        bytes += piece.prefix(SecretReader.limit + 1 - bytes.count)
      }
    } catch {
      if case .stopped = error { throw .stopped }
      throw .commandNotStarted(error)
    }
    switch end.stopped {
    case .cancelled: throw .stopped
    case .timeout, .stall: throw .commandTimedOut(arguments[0], after: limit)
    case nil: break
    }
    guard end.exited(with: 0) else { throw .command(arguments[0], end.status) }
    if bytes.count > SecretReader.limit { throw .unfit(.tooLong, .command(arguments)) }
    return bytes
  }
}

extension SecretReader {
  /// The containment and the environment for programs that print a secret. There is no run yet, so processes
  /// that are still alive after a success belong to none.
  private func contained() -> ((any Containment)?, EnvironmentBlock) {
    let cookie = EngineCookie()
    let engine = RunCookie.thisEngine(cookie)
    let marked = try? environment.setting([(RunCookie.engine, engine)])
    let containment = try? Containments.make(
      .automatic, run: RunID.make(at: WallClock.now).text, cookie: cookie,
      entries: ["\(RunCookie.engine)=\(engine)"])
    return (containment, marked ?? environment)
  }
}

/// Secrets that a run needs and that cannot be read: a diagnostic for each, at its declaration.
package struct SecretsReadError: Error, Sendable {
  package let diagnostics: [Diagnostic]
}

extension SecretError {
  fileprivate func diagnostic(of declaration: SecretDeclaration, in file: SourceFile?) -> Diagnostic
  {
    var place: Diagnostic.Place?
    if let file, let range = declaration.place.value {
      place = Diagnostic.Place(file: file, range: range)
    }
    return Diagnostic(
      .error, code: DefinitionCode.unreadableSecret.rawValue,
      message: "secret \"\(declaration.name)\" \(message)", place: place, help: help)
  }
}

extension [UInt8] {
  /// The bytes without one `\n` or `\r\n` at the end.
  fileprivate var withoutLastNewline: [UInt8] {
    guard last == UInt8(ascii: "\n") else { return self }
    return Array(dropLast(dropLast().last == UInt8(ascii: "\r") ? 2 : 1))
  }
}

/// The reason why a secret could not be read. It describes the source, and nothing of the content.
enum SecretError: Error {
  case variableMissing(String)
  case file(String, FileReadError)
  case commandNotStarted(SpawnError)
  case command(String, ProgramEnd.Status)
  case commandTimedOut(String, after: Duration)
  case descriptorClosed(Int32)
  case descriptor(Int32, SystemError)
  case descriptorTimedOut(Int32, after: Duration)
  case environmentFile(String, EnvironmentTextError)
  case variableNotInFile(String, String)
  case unfit(Secret.ValidationError, SecretSource)
  case stopped

  /// The message, without the name of the secret before it.
  var message: String {
    switch self {
    case .variableMissing(let name): "cannot be read: the variable \"\(name)\" is not set"
    case .file(let path, let error): "cannot be read: \"\(path)\" \(error.message)"
    case .commandNotStarted(let reason): "cannot be read: \(reason.message)"
    case .command(let name, .exited(let code)):
      "cannot be read: \"\(name)\" exited with code \(code)"
    case .command(let name, .lost):
      "cannot be read: the exit status of \"\(name)\" was collected by other code in this process"
    case .command(let name, .killed(let signal)):
      "cannot be read: \"\(name)\" was ended by signal \(signal.name)"
    case .commandTimedOut(let name, let limit):
      "cannot be read: \"\(name)\" took more than \(DurationText.text(of: limit))"
    case .descriptorClosed(let number): "cannot be read: descriptor \(number) is not open"
    case .descriptor(let number, let error): "cannot be read: descriptor \(number): \(error)"
    case .descriptorTimedOut(let number, let limit):
      "cannot be read: descriptor \(number) was not closed within \(DurationText.text(of: limit))"
    case .environmentFile(_, let error):
      "cannot be read: \(error.diagnostics.first?.message ?? "")"
    case .variableNotInFile(let name, let path):
      "cannot be read: \"\(path)\" has no variable \"\(name)\""
    case .unfit(let reason, let source): "(\(source.text)) \(reason.message)"
    case .stopped: "was not read: interrupted"
    }
  }

  var help: String? {
    switch self {
    case .variableMissing(let name):
      "set it where weft is started: \(name)=… weft run …; steps do not see this variable"
    case .file(_, .system(.notFound)): "a relative path is relative to the start directory (-C)"
    case .file: nil
    case .commandNotStarted(let reason): reason.help
    case .command:
      "run it separately to see why; its output is not shown here, because it may be the secret"
    case .commandTimedOut:
      "it has neither input nor terminal, so it cannot prompt; \"timeout\" gives it more time"
    case .descriptorClosed(let number):
      "open it where weft is started: weft run … \(number)<FILE"
    case .descriptor: nil
    case .descriptorTimedOut: "the secret ends when its writer closes the descriptor"
    case .unfit(let reason, _): reason.help
    case .environmentFile(_, let error): error.diagnostics.first?.help
    case .variableNotInFile(let name, _): "add the line \(name)=…, or correct \"name\""
    case .stopped: nil
    }
  }
}

extension Secret.ValidationError {
  /// The message, without the name of the secret before it.
  fileprivate var message: String {
    switch self {
    case .empty: "is empty"
    case .tooShort(let count):
      "has \(count == 1 ? "1 byte" : "\(count) bytes"); at least \(Secret.fewestBytes) are needed to mask it"
    case .tooLong: "has more than \(Secret.mostBytes >> 10) KiB"
    case .hasNUL: "contains a NUL byte"
    case .notUTF8: "is not UTF-8"
    }
  }

  fileprivate var help: String {
    switch self {
    case .empty: "set the value, or remove the secret from the workflow"
    case .tooShort:
      "masking so short a value would garble the output; declare it in \"inputs\" instead"
    case .tooLong: "let the step read it from a separate file"
    case .hasNUL, .notUTF8: "encode it, for example as base64, and let the step decode it"
    }
  }
}

extension SecretSource {
  /// The source of a value, as part of a sentence.
  var text: String {
    switch self {
    case .environment(let name): "variable \"\(name)\""
    case .file(let path): "file \"\(path)\""
    case .command(let arguments, _): "command \"\(arguments[0])\""
    case .descriptor(let number): "descriptor \(number)"
    case .environmentFile(let path, let name): "variable \"\(name)\" of \"\(path)\""
    }
  }
}
