import Synchronization
import WeftPlatform

/// What tools say of their versions: each is asked once in a run, as long as it is asked in the same way.
final class ToolVersions: Sendable {
  private struct Question: Hashable {
    let command: [String]
    let directory: String?
    /// A hash of the variables that count.
    let environment: String
  }

  /// What holds the programs that are asked; `nil`: they are held by their groups alone.
  private let containment: (any Containment)?
  private let known = Mutex<[Question: Result<String, CacheObstacle>]>([:])

  init(in containment: (any Containment)? = nil) { self.containment = containment }

  /// A tool that takes longer is stuck.
  static let timeout = Duration.seconds(60)
  /// No tool says more.
  static let mostBytes = 1 << 20

  /// What the command prints. The thread is blocked meanwhile.
  func text(
    of command: [String], _ subject: CacheSubject, environment: String, stop: StopSwitch
  ) throws(CacheObstacle) -> String {
    let question = Question(
      command: command, directory: subject.workingDirectory, environment: environment)
    if let answer = known.withLock({ $0[question] }) { return try answer.get() }
    let answer = Result { () throws(CacheObstacle) in
      try ask(command, subject, stop: stop)
    }
    if case .failure(.stopped) = answer { return try answer.get() }
    known.withLock { $0[question] = answer }
    return try answer.get()
  }

  private func ask(
    _ command: [String], _ subject: CacheSubject, stop: StopSwitch
  ) throws(CacheObstacle) -> String {
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
