import Synchronization
package import WeftEvents
package import WeftExecution
import WeftJSON
package import WeftPlanning
import WeftPlatform

/// The folder `control` of a run, in which other processes leave requests for its engine as files.
///
/// A request remains until its effect is recorded or the engine has ended, so that it survives a killed engine. The
/// folder is read on a separate thread, so that a hanging file system stops no timer.
package final class ControlFolder: ControlInbox {
  private struct State {
    /// The names of all files that were read, including those that are not requests.
    var known: Set<String> = []
    /// The requests by file name, until the files are removed.
    var requests = StoredRequests()
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

  /// Longer files are not requests.
  private static let byteLimit = 64 << 10
  /// The maximum number of files per read.
  private static let countLimit = 1000

  /// Returns the requests that were not taken yet; approvals only for `steps`. The first call reads the folder; each
  /// later one has it read for the next call.
  package func take(answersTo steps: Set<StepAddress>) -> [ControlRequest] {
    let isFirst = state.withLock { state in
      defer { state.hasBeenRead = true }
      return !state.hasBeenRead
    }
    if isFirst { readFolder() } else { reading.withLock { $0 }?.request(atOnce: true) }
    return state.withLock { $0.requests.take(answersTo: steps) }
  }

  package func discard(answersTo step: StepAddress) {
    discard { $0.answeredStep == step }
  }

  package func discard(answersTo step: StepAddress, givenAfter moment: WallTime) {
    remove { $1.answeredStep == step && StoredRequests.wasLeft($0, after: moment) }
  }

  package func close(after outcome: Outcome?) {
    reading.withLock { $0.take() }?.end()
    discard { StoredRequests.isNeedless($0, after: outcome) }
  }

  /// Removes requests, also those that have not been read yet.
  package func discard(where isNeedless: (ControlRequest) -> Bool) {
    remove { _, request in isNeedless(request) }
  }

  private func remove(where isNeedless: (_ name: String, ControlRequest) -> Bool) {
    while readFolder() {}
    let names = state.withLock { $0.requests.remove(where: isNeedless) }
    for name in names { try? directory.remove(name) }
  }

  /// Reads new files, up to a limit. A file that cannot be read is not tried again.
  ///
  /// - Returns: Whether there may be more.
  @discardableResult
  private func readFolder() -> Bool {
    let names = ControlFolder.names(in: directory)
    let new = state.withLock { state in
      names.filter { !state.known.contains($0) }.prefix(ControlFolder.countLimit)
    }
    for name in new {
      let request = ControlFolder.request(name, in: directory)
      state.withLock { state in
        // Another thread may have read and removed it meanwhile.
        guard state.known.insert(name).inserted, let request else { return }
        state.requests.add(request, named: name)
      }
    }
    return new.count == ControlFolder.countLimit
  }

  fileprivate static func names(in directory: PrivateDirectory) -> [String] {
    directory.names().filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
  }

  fileprivate static func request(
    _ name: String, in directory: PrivateDirectory
  ) -> ControlRequest? {
    (try? directory.bytes(of: name, limit: byteLimit)).flatMap { ControlRequest($0) }
  }

  /// Leaves a request: the file exists completely or not at all.
  func leave(_ request: ControlRequest, at moment: WallTime) throws(UnsafePathError) {
    // Names begin with the time so that they sort by age.
    let random = String(UInt64.random(in: 0 ... .max), radix: 36)
    let name = "\(moment.nanoseconds)-\(random).json"
    try directory.write(request.bytes, to: ".new-\(name)", surviving: true)
    try directory.rename(".new-\(name)", to: name)
  }
}

extension RunFolder {
  /// The control requests for the held run; `nil` if the folder is not available.
  package var control: ControlFolder? {
    (try? directory.directory("control", makes: true)).map(ControlFolder.init)
  }

  /// The requests that no engine has taken yet and that are due, oldest first. Reads only.
  static func requests(in folder: PrivateDirectory, dueAfter recorded: RunState) -> [ControlRequest]
  {
    guard let directory = try? folder.directory("control", makes: false) else { return [] }
    return ControlFolder.names(in: directory).sorted()
      .compactMap { ControlFolder.request($0, in: directory) }
      .filter { $0.isDue(after: recorded) }
  }

  /// Leaves a request for the engine of a run, even if no engine is alive yet.
  package static func leave(
    _ request: ControlRequest, for run: RunID, in state: StateDirectory, at moment: WallTime
  ) throws(RunFolderError) {
    let folder = try state.folder(of: run)
    do throws(UnsafePathError) {
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
  ) throws(RecordFormatError) -> ControlRequest {
    var scanner = RecordScanner(line)
    var (kind, step) = ("", StepAddress?.none)
    try scanner.beginObject()
    try scanner.code("request", &kind)
    try scanner.code("step", &step)
    let request: ControlRequest
    switch (kind, step) {
    case ("approve", let step?): request = .approve(step)
    case ("reject", let step?): request = .reject(step)
    case ("cancel", _): request = .cancel
    case ("kill", _): request = .kill
    default: throw .unknownType(kind)
    }
    try scanner.endObject()
    return request
  }
}
