import Synchronization
import WeftPlatform

/// The form in which a jobserver is passed to a program.
enum JobserverForm: Sendable, Hashable {
  case fifo
  /// Two descriptors. GNU make before 4.4 supports only these, and fails at the word `fifo:`.
  case pipe

  /// - Parameter text: The output of `make --version`; `nil` without a make.
  init(makeVersion text: String?) {
    let name = "GNU Make "
    guard let text, text.hasPrefix(name) else {
      self = .fifo
      return
    }
    let version = text.dropFirst(name.count).prefix { $0.isNumber || $0 == "." }
    let numbers = version.split(separator: ".").map { Int($0) ?? 0 }
    let (major, minor) = (numbers.first ?? 0, numbers.dropFirst().first ?? 0)
    self = (major, minor) >= (4, 4) ? .fifo : .pipe
  }
}

/// Determines the jobserver form by the make that a step would find, once for each PATH.
final class JobserverForms: Sendable {
  private let known = Mutex<[String: JobserverForm]>([:])

  /// Runs `make --version` on the calling thread, unless the form is already known.
  func form(
    for program: ChildProgram, in containment: (any Containment)?, stop: StopSwitch
  ) throws(SpawnError) -> JobserverForm {
    let path = program.environment["PATH"] ?? ""
    if let form = known.withLock({ $0[path] }) { return form }
    let form = JobserverForm(
      makeVersion: try JobserverForms.version(for: program, in: containment, stop: stop))
    known.withLock { $0[path] = form }
    return form
  }

  /// The version is in the first line; further bytes are discarded.
  static let mostBytes = 4096

  static func version(
    for program: ChildProgram, in containment: (any Containment)?, stop: StopSwitch
  ) throws(SpawnError) -> String? {
    var make = ChildProgram(
      ["make", "--version"], environment: program.environment, directory: program.directory)
    make.timeout = .seconds(10)
    var text: [UInt8] = []
    do {
      _ = try make.run(in: containment, stop: stop) { stream, bytes in
        if stream == .output { text += bytes.prefix(mostBytes - text.count) }
      }
    } catch {
      // What prevents this spawn also prevents that of the step's program.
      switch error {
      case .resources, .stopped: throw error
      default: return nil
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
