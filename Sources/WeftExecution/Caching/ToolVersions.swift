import Synchronization
import WeftEvents
import WeftPlatform

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
