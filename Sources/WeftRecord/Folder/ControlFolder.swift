import Synchronization
package import WeftExecution
import WeftJSON
package import WeftPlanning
import WeftPlatform

/// The folder `control` of a run: who asks something of its engine leaves a file there.
///
/// A file stays until the engine has ended, so that what was asked is not lost if it is killed.
package final class ControlFolder: ControlInbox {
  private let directory: PrivateDirectory
  /// The names of those that have been taken.
  private let seen = Mutex<[String: ControlRequest]>([:])

  init(_ directory: PrivateDirectory) {
    self.directory = directory
  }

  /// What is longer, or more, is nobody's request.
  private static let byteLimit = 64 << 10
  private static let countLimit = 1000

  package func take() -> [ControlRequest] {
    seen.withLock { seen in
      var requests: [ControlRequest] = []
      for name in directory.names().prefix(ControlFolder.countLimit)
      where name.hasSuffix(".json") && !name.hasPrefix(".") && seen[name] == nil {
        guard let bytes = try? directory.bytes(of: name, limit: ControlFolder.byteLimit),
          let request = ControlRequest(bytes)
        else { continue }
        seen[name] = request
        requests.append(request)
      }
      return requests
    }
  }

  package func close(leaving open: Set<StepAddress>) {
    _ = take()
    for (name, request) in seen.withLock({ $0 }) {
      switch request {
      case .approve(let step) where open.contains(step),
        .reject(let step) where open.contains(step):
        break
      case .approve, .reject, .cancel, .kill: try? directory.remove(name)
      }
    }
  }

  /// Takes away what is of no use to an engine that goes on with the run.
  package func discard(where isNeedless: (ControlRequest) -> Bool) {
    for name in directory.names() where name.hasSuffix(".json") {
      guard let bytes = try? directory.bytes(of: name, limit: ControlFolder.byteLimit),
        let request = ControlRequest(bytes), isNeedless(request)
      else { continue }
      try? directory.remove(name)
    }
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
