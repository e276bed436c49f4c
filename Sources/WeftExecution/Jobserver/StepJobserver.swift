package import WeftPlatform

/// The jobserver that one attempt's program is offered.
struct StepJobserver {
  /// How many descriptors it takes at the most.
  static let descriptors = 3

  /// What its `MAKEFLAGS` says.
  let address: JobserverAddress
  /// Its descriptors 3 and 4, if it needs them.
  var further: [Descriptor] = []
  /// Through which slots are lent to it; `nil` if what it is offered is somebody else's.
  var pipe: TokenPipe?
  /// To be removed when it has ended.
  var path: String?

  /// The run's own slots, by a pipe or a FIFO.
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

  /// The one that the run has joined itself.
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

/// A jobserver that a make above offers, and that the run takes its slots from.
package struct JoinedJobserver: Sendable {
  let address: JobserverAddress
  let pipe: TokenPipe

  /// - Throws: When what is offered is not there.
  package init(_ address: JobserverAddress) throws(JobserverUnavailable) {
    self.address = address
    pipe = try TokenPipe.joined(address)
  }
}

extension RunWarning {
  /// Of an offer that cannot be taken.
  package init(_ reason: JobserverUnavailable) {
    self.init(
      kind: .jobserver,
      message: "the jobserver that make offers is of no use: \(reason.message); as many steps run"
        + " at once as without one",
      help: "begin the makefile's rule with \"+\", or say how many with -j")
  }
}
