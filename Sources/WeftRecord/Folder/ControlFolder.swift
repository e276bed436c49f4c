import Synchronization
package import WeftExecution
import WeftJSON
package import WeftPlanning
import WeftPlatform

/// The folder `control` of a run: who asks something of its engine leaves a file there.
///
/// A request stays until its effect is recorded, or the engine has ended, so that it is not lost if the engine is killed.
/// The folder is read on a thread of its own: a file system that hangs stops no timer.
package final class ControlFolder: ControlInbox {
  private struct State {
    /// The names of files that have been read, also of those that are no requests.
    var known: Set<String> = []
    /// Requests by the names of their files, until those are removed.
    var requests: [String: ControlRequest] = [:]
    /// The names of those that have been taken.
    var taken: Set<String> = []
    var hasBeenRead = false
  }

  private let directory: PrivateDirectory
  private let state = Mutex(State())
  private let reading = Mutex<DelayedWork?>(nil)

  init(_ directory: PrivateDirectory) {
    self.directory = directory
    let work = DelayedWork(after: .zero, thread: "weft-control") { [weak self] in
      self?.readFolder()
    }
    reading.withLock { $0 = work }
  }

  deinit { reading.withLock { $0?.end() } }

  /// What is longer is no request.
  private static let byteLimit = 64 << 10
  /// How many files are read at once.
  private static let countLimit = 1000

  /// The first call reads the folder; every other has it read again for the next.
  package func take(answersTo steps: Set<StepAddress>) -> [ControlRequest] {
    let isFirst = state.withLock { state in
      defer { state.hasBeenRead = true }
      return !state.hasBeenRead
    }
    if isFirst { readFolder() } else { reading.withLock { $0 }?.request(atOnce: true) }
    return state.withLock { state in
      let names = state.requests.filter { name, request in
        !state.taken.contains(name) && (request.answeredStep.map(steps.contains) ?? true)
      }.keys.sorted()
      state.taken.formUnion(names)
      return names.compactMap { state.requests[$0] }
    }
  }

  package func discard(answersTo step: StepAddress) {
    discard { $0.answeredStep == step }
  }

  package func close(leaving open: Set<StepAddress>) {
    reading.withLock { $0.take() }?.end()
    discard { request in request.answeredStep.map { !open.contains($0) } ?? true }
  }

  /// Removes requests, also those that have not been read yet.
  package func discard(where isNeedless: (ControlRequest) -> Bool) {
    while readFolder() {}
    let names = state.withLock { state in
      let names = state.requests.filter { isNeedless($0.value) }.map(\.key)
      for name in names { state.requests[name] = nil }
      return names
    }
    for name in names { try? directory.remove(name) }
  }

  /// Reads the files that are not known yet, a number of them at most. One that cannot be read is known from then on.
  ///
  /// - Returns: Whether there may be more.
  @discardableResult
  private func readFolder() -> Bool {
    let names = directory.names().filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
    let new = state.withLock { state in
      names.filter { !state.known.contains($0) }.prefix(ControlFolder.countLimit)
    }
    for name in new {
      let bytes = try? directory.bytes(of: name, limit: ControlFolder.byteLimit)
      let request = bytes.flatMap { ControlRequest($0) }
      state.withLock { state in
        // Another thread may have read it, and removed it, meanwhile.
        guard state.known.insert(name).inserted, let request else { return }
        state.requests[name] = request
      }
    }
    return new.count == ControlFolder.countLimit
  }

  /// Leaves a request: it is there whole, or not at all.
  func leave(_ request: ControlRequest, at moment: WallTime) throws(UnsafePlace) {
    // By time, so that the later of two is the later.
    let random = String(UInt64.random(in: 0 ... .max), radix: 36)
    let name = "\(moment.nanoseconds)-\(random).json"
    try directory.write(request.bytes, to: ".new-\(name)", surviving: true)
    try directory.rename(".new-\(name)", to: name)
  }
}

extension RunFolder {
  /// What others ask of the run whose folder is held; `nil` where it is not to be had.
  package var control: ControlFolder? {
    (try? directory.directory("control", makes: true)).map(ControlFolder.init)
  }

  /// Leaves a request for the engine of a run, be it alive or still to come.
  package static func leave(
    _ request: ControlRequest, for run: RunID, in state: StateDirectory, at moment: WallTime
  ) throws(RunFolderFault) {
    let folder = try state.folder(of: run)
    do throws(UnsafePlace) {
      try ControlFolder(try folder.directory("control", makes: true)).leave(request, at: moment)
    } catch {
      throw .place(error)
    }
  }
}

/// `{"request":"approve","step":"deploy"}`
extension ControlRequest {
  fileprivate var bytes: [UInt8] {
    var writer = JSONWriter(capacity: 256)
    writer.beginObject()
    switch self {
    case .approve(let step):
      writer.member("request", "approve")
      writer.member("step", step.text)
    case .reject(let step):
      writer.member("request", "reject")
      writer.member("step", step.text)
    case .cancel: writer.member("request", "cancel")
    case .kill: writer.member("request", "kill")
    }
    writer.endObject()
    writer.endLine()
    return writer.withBytes { Array($0) }
  }

  fileprivate init?(_ bytes: [UInt8]) {
    let read = bytes.withUnsafeBytes { bytes -> ControlRequest? in
      let line = UnsafeRawBufferPointer(rebasing: bytes.prefix { $0 != UInt8(ascii: "\n") })
      return try? ControlRequest.read(line)
    }
    guard let read else { return nil }
    self = read
  }

  private static func read(
    _ line: UnsafeRawBufferPointer
  ) throws(RecordProblem) -> ControlRequest {
    var scanner = RecordScanner(line)
    try scanner.begin("{")
    let kind = try scanner.text("request")
    let request: ControlRequest
    switch kind {
    case "approve": request = .approve(try scanner.address("step"))
    case "reject": request = .reject(try scanner.address("step"))
    case "cancel": request = .cancel
    case "kill": request = .kill
    default: throw .unknownType(kind)
    }
    try scanner.endObject()
    return request
  }
}
