import Synchronization
import WeftEvents
package import WeftPlatform

/// The jobserver that one attempt's program is offered.
struct StepJobserver {
  /// The maximum number of descriptors it uses.
  static let descriptors = 3

  /// The address in the program's `MAKEFLAGS`.
  let address: JobserverAddress
  /// Its descriptors 3 and 4, if it needs them.
  var further: [Descriptor] = []
  /// The pipe through which slots are lent; `nil` if the jobserver is not the run's own.
  var pipe: TokenPipe?
  /// Removed after the program has ended.
  var path: String?

  /// Offers the run's own slots, by a pipe or a FIFO.
  ///
  /// - Parameter folder: The place of the FIFO.
  init(_ form: JobserverForm, in folder: OutputFolder) throws(SystemError) {
    switch form {
    case .fifo:
      let path = try folder.ownPath("jobs-\(String(UInt64.random(in: 0...(.max)), radix: 16))")
      pipe = try TokenPipe.made(at: path)
      address = .fifo(path)
      self.path = path
    case .pipe:
      let made = try TokenPipe.made()
      pipe = made.pipe
      further = [made.reading, made.writing]
      address = StepJobserver.inherited
    }
  }

  /// Passes on the jobserver that the run itself has joined.
  init(passingOn joined: JoinedJobserver) {
    switch joined.address {
    case .fifo: address = joined.address
    case .pipe(let reading, let writing):
      further = [reading, writing].compactMap { Descriptor.inherited($0) }
      address = StepJobserver.inherited
    }
  }

  func remove() {
    if let path { Descriptor.remove(path) }
  }

  private static let inherited = JobserverAddress.pipe(reading: 3, writing: 4)
}

/// A jobserver of an enclosing make that the run takes its slots from.
package struct JoinedJobserver: Sendable {
  let address: JobserverAddress
  let pipe: TokenPipe

  /// - Throws: If the jobserver does not exist.
  package init(_ address: JobserverAddress) throws(JobserverError) {
    self.address = address
    pipe = try TokenPipe.joined(address)
  }
}

extension RunWarning {
  /// A warning that the offered jobserver cannot be used.
  package init(_ reason: JobserverError) {
    self.init(
      kind: .jobserver,
      message: "cannot use the jobserver of make: \(reason.message); running as many "
        + "steps at once as without it",
      help: "begin the recipe line of the makefile with \"+\", or set the number of steps with -j")
  }
}

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
