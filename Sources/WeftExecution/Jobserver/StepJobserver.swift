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
  init(_ form: JobserverForm) throws(SystemError) {
    switch form {
    case .fifo:
      let name = "weft-jobs-\(ThisProcess.id)-\(String(UInt64.random(in: 0...(.max)), radix: 16))"
      let path = "\(FileSystem.temporaryDirectory)/\(name)"
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
      message: "the jobserver that make offers is of no use: \(reason.message); as many steps run"
        + " at once as without one",
      help: "begin the makefile's rule with \"+\", or say how many with -j")
  }
}
