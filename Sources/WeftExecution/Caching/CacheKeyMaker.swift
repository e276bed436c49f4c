import Synchronization
import WeftCaching
import WeftDefinition
import WeftPlatform

/// Computes the cache keys of steps.
struct CacheKeyMaker: Sendable {
  let cache: StepCache
  let secrets: RunSecrets
  let versions: ToolVersions

  /// - Parameters:
  ///   - files: The files that are the step's inputs.
  ///   - log: The hash of the log that the step reads.
  func key(
    of subject: CacheSubject, files: [FileRecord], log: String?, stop: StopSwitch
  ) throws(CacheKeyError) -> CacheKey {
    var key = keyWithoutFiles(of: subject, log: log)
    key.set(.inputs, files: files)
    if let command = subject.version {
      let text = try versions.text(
        of: command, subject, environment: key.hash(of: .env) ?? "", stop: stop)
      key.set(.version, content(text))
    }
    return key
  }

  /// The parts of the key that need neither the file system nor a program.
  func keyWithoutFiles(of subject: CacheSubject, log: String?) -> CacheKey {
    var key = CacheKey()
    key.set(.platform, .text(Machine.platform))
    key.set(.command, subject.command.map { CacheValue($0.name, content($0.text)) })
    key.set(.cwd, .text(subject.directory.joined(separator: "/")))
    if !subject.elements.isEmpty {
      key.set(
        .element,
        subject.elements.enumerated().map { index, element in
          CacheValue(
            index == 0 ? "item" : "item of \(index) further out",
            element.isSecret ? cache.secret(element.text) : content(element.text))
        })
    }
    if let input = input(of: subject, log: log) { key.set(.stdin, input) }
    key.set(.env, subject.variables.map { CacheValue($0, variable($0, of: subject)) })
    key.set(
      .outputs, subject.outputs.map { CacheValue($0.joined(separator: "/"), .text("")) })
    if let text = subject.caching.key { key.set(.key, content(text)) }
    return key
  }

  private func input(of subject: CacheSubject, log: String?) -> CacheContent? {
    switch subject.input {
    case .none: nil
    case .text(let text, let isSecret): isSecret ? cache.secret(text) : content(text)
    // The file's content is among the inputs.
    case .file(let names): .text("file: " + names.joined(separator: "/"))
    case .log: log.map { .long(hash: $0) }
    }
  }

  private func variable(_ name: String, of subject: CacheSubject) -> CacheContent {
    guard let value = subject.environment[name] else { return .unset }
    return subject.secretVariables.contains(name) ? cache.secret(value) : content(value)
  }

  /// Text that contains the bytes of a secret is secret.
  private func content(_ text: String) -> CacheContent {
    secrets.areIn(text) ? cache.secret(text) : .of(text)
  }
}

extension Machine {
  /// The system and the processor architecture that this program was built for.
  static var platform: String {
    #if os(Linux)
      let system = "linux"
    #elseif os(macOS)
      let system = "macos"
    #else
      let system = "other"
    #endif
    #if arch(x86_64)
      return system + "-x86_64"
    #elseif arch(arm64)
      return system + "-arm64"
    #else
      return system
    #endif
  }
}

/// Versions of tools. Each version command runs once in a run for the same directory and environment.
final class ToolVersions: Sendable {
  private struct Question: Hashable {
    let command: [String]
    let directory: String?
    /// A hash of the variables that are part of the key.
    let environment: String
  }

  /// The containment of the programs; `nil` if they are contained by their process groups alone.
  private let containment: (any Containment)?
  private let known = Mutex<[Question: Result<String, CacheKeyError>]>([:])

  init(in containment: (any Containment)? = nil) { self.containment = containment }

  /// Long enough for any tool that is not stuck.
  static let timeout = Duration.seconds(60)
  /// More than any tool prints.
  static let mostBytes = 1 << 20

  /// The output of the command. Blocks the calling thread.
  func text(
    of command: [String], _ subject: CacheSubject, environment: String, stop: StopSwitch
  ) throws(CacheKeyError) -> String {
    let question = Question(
      command: command, directory: subject.workingDirectory, environment: environment)
    if let answer = known.withLock({ $0[question] }) { return try answer.get() }
    let answer = Result { () throws(CacheKeyError) in
      try ask(command, subject, stop: stop)
    }
    if case .failure(.stopped) = answer { return try answer.get() }
    known.withLock { $0[question] = answer }
    return try answer.get()
  }

  private func ask(
    _ command: [String], _ subject: CacheSubject, stop: StopSwitch
  ) throws(CacheKeyError) -> String {
    var program = ChildProgram(
      command, environment: subject.environment, directory: subject.workingDirectory)
    program.timeout = ToolVersions.timeout
    program.mergesOutput = true
    program.stopPolicy = StopPolicy(grace: .seconds(2))
    var bytes: [UInt8] = []
    let end: ProgramEnd
    do {
      end = try program.run(in: containment, stop: stop) { _, piece in
        bytes += piece.prefix(ToolVersions.mostBytes - bytes.count)
      }
    } catch {
      if case .stopped = error { throw .stopped }
      throw .version("the command for its version \(error.message)")
    }
    switch end.stopped {
    case .cancelled: throw .stopped
    case .timeout, .stall: throw .version("the command for its version took longer than a minute")
    case nil: break
    }
    guard end.exited(with: 0) else { throw .version("the command for its version failed") }
    return String(decoding: bytes, as: UTF8.self)
  }
}
