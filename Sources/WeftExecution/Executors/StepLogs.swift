import Synchronization
package import WeftDefinition
import WeftEncoding
import WeftEvents
import WeftPlanning
package import WeftPlatform

/// The logs of all steps of a run, on disk: in the run's folder, one file for each step; without a folder, in
/// one unlinked temporary file, in which each step has its extents.
///
/// They let a slow display catch up, and one step read the log of another, in bounded memory. If they cannot be
/// written, events still carry the output, and the run reports at its end what was lost.
package final class StepLogs: Sendable {
  /// A range of the file that holds a range of a log.
  fileprivate struct Extent {
    let logOffset: Int
    let fileOffset: Int
    var count: Int
  }

  private struct State {
    var file: SpoolFile?
    var logs: [Int: [Extent]] = [:]
    var sizes: [Int: Int] = [:]
    var limits: [Int: ByteCount] = [:]
    /// The offset at which the log of the last attempt begins, if it is not the first.
    var beginnings: [Int: Int] = [:]
    /// Steps of a previous engine whose logs are gone or too short, with the reason.
    var lost: [Int: NoCopyError] = [:]
    var fault: WriteError?
    /// The steps whose logs in the folder are incomplete, and the first few of them.
    var incomplete: Set<StepAddress> = []
    var namedIncomplete: [StepAddress] = []
    /// The logs in the folder.
    var folder = FolderLogs()

    mutating func markIncomplete(_ step: Int) {
      guard let address = folder.names[step], incomplete.insert(address).inserted else { return }
      if namedIncomplete.count < StepLogs.incompleteLimit { namedIncomplete.append(address) }
    }

    mutating func keep(_ bytes: [UInt8]) throws(WriteError) -> Int {
      if file == nil {
        do { file = try SpoolFile() } catch { throw WriteError(error) }
      }
      let offset = file!.count
      try file!.append(bytes)
      return offset
    }
  }

  private let state = Mutex(State())
  private let folder: LogFolder?
  private let reserve = DescriptorReserve()

  /// - Parameter folder: The folder of the logs; `nil` for a temporary file.
  package init(in folder: LogFolder? = nil) {
    self.folder = folder
  }

  /// Opens in advance what writing needs if descriptors run out later. On failure, it is tried again when a step
  /// writes.
  func prepare() {
    guard folder == nil else { return reserve.refill() }
    state.withLock { state in
      if state.file == nil { state.file = try? SpoolFile() }
    }
  }

  /// The first error of the file; nothing is written after it.
  package var fault: WriteError? { state.withLock { $0.fault } }

  /// The maximum number of incomplete logs that are named.
  private static let incompleteLimit = 10

  /// The logs that are incomplete, as a sentence without a full stop; `nil` if there are none.
  package var faultMessage: String? {
    state.withLock { state in
      guard let fault = state.fault else { return nil }
      let named = state.namedIncomplete.map { "\"\($0)\"" }.joined(separator: ", ")
      let rest = state.incomplete.count - state.namedIncomplete.count
      let logs = named.isEmpty ? "" : ": " + named + (rest > 0 ? " and \(rest) more" : "")
      return "the output of steps could not be stored: \(fault.message)\(logs)"
    }
  }

  /// Appends to a step's log. Only one thread at a time may append to the same log.
  ///
  /// - Returns: The offset of the bytes in the log.
  func append(_ bytes: [UInt8], of step: Int) -> Int {
    if let folder { return append(bytes, of: step, in: folder) }
    return state.withLock { state in
      let offset = state.sizes[step, default: 0]
      state.sizes[step] = offset + bytes.count
      guard state.fault == nil else { return offset }
      do throws(WriteError) {
        let place = try state.keep(bytes)
        state.logs[step, default: []].add(
          Extent(logOffset: offset, fileOffset: place, count: bytes.count))
      } catch {
        state.fault = error
      }
      return offset
    }
  }

  /// Steps that write at the same time do not wait for each other's files.
  private func append(_ bytes: [UInt8], of step: Int, in folder: LogFolder) -> Int {
    let (offset, isKept, place) = state.withLock { state in
      (state.sizes[step, default: 0], state.fault == nil, state.folder.place(of: step))
    }
    var fault: WriteError?
    var opened: FolderLogs.Opened?
    if isKept {
      do throws(WriteError) { opened = try place?.append(bytes, in: folder, reserve) } catch {
        fault = error
      }
    }
    state.withLock { state in
      state.sizes[step] = offset + bytes.count
      if let fault { state.fault = state.fault ?? fault }
      if state.fault != nil { state.markIncomplete(step) }
      if let opened { state.folder.keep(opened, of: step) }
    }
    return offset
  }

  /// Sets the address of the step with this number.
  func name(_ step: Int, _ address: StepAddress) {
    guard folder != nil else { return }
    state.withLock { $0.folder.names[step] = address }
  }

  /// Closes the log's file until the next write.
  func endAttempt(of step: Int) {
    guard folder != nil else { return }
    state.withLock { $0.folder.close(step) }
  }

  /// Starts another attempt on a line of its own: only its output is read by other steps.
  func beginAttempt(of step: Int) {
    guard size(of: step) > 0 else { return }
    if !endsLine(step) { _ = append(StepLogs.newline, of: step) }
    state.withLock { state in
      state.beginnings[step] = state.sizes[step]
      state.limits[step] = nil
    }
  }

  /// Whether a log has no unfinished line.
  private func endsLine(_ step: Int) -> Bool {
    let size = size(of: step)
    return size == 0 || read((size - 1)..<size, of: step) == StepLogs.newline
  }

  static let newline = [UInt8(ascii: "\n")]

  /// The bytes in the file of a step's log, also those of previous engines; 0 without a folder.
  func storedBytes(of address: StepAddress) -> Int {
    (try? folder?.log(of: address)?.byteCount()) ?? 0
  }

  /// Forgets what previous engines have kept of the output of a program that this one has adopted. It must not have
  /// passed any output yet.
  ///
  /// - Parameter count: The bytes in the file when the attempt began.
  func rewind(_ address: StepAddress, to count: Int) {
    try? folder?.log(of: address, forWriting: true)?.cut(to: count)
  }

  /// Adds the log of a step that a previous engine has run, so that other steps can read it.
  ///
  /// - Parameters:
  ///   - limit: The limit at which the log was cut; `nil` if it was not.
  func adopt(_ end: StepEnd, of step: Int, _ address: StepAddress, limit: ByteCount?) {
    let size = Int(clamping: end.logBytes)
    let last = end.attempts > 1 ? min(size, Int(clamping: end.outputBytes)) : size
    let file = folder?.log(of: address)
    let count = (try? file?.byteCount()) ?? 0
    state.withLock { state in
      guard size <= count, size == 0 || file != nil else {
        state.lost[step] =
          file == nil ? .unwritten(.other(.notFound)) : .shortened(to: count, from: size)
        return
      }
      state.folder.adopt(step, address, base: count - size)
      state.sizes[step] = size
      state.beginnings[step] = size - last
      state.limits[step] = limit
    }
  }

  /// Whether a step with one of these numbers has written anything.
  func hold(_ steps: Range<Int>) -> Bool {
    state.withLock { state in steps.contains { state.sizes[$0, default: 0] > 0 } }
  }

  /// Removes steps that have ended, whose numbers will be reused.
  func forget(_ steps: Range<Int>) {
    state.withLock { state in
      let isFolder = folder != nil
      // Looking up keys that are absent would cost a hash for each.
      let isKnown = !state.sizes.isEmpty || !state.limits.isEmpty || !state.beginnings.isEmpty
      guard isFolder || isKnown else { return }
      for step in steps {
        state.logs[step] = nil
        state.sizes[step] = nil
        state.limits[step] = nil
        state.beginnings[step] = nil
        state.lost[step] = nil
        if isFolder { state.folder.forget(step) }
      }
    }
  }

  /// Ends a step's log with a line that names the limit; nothing may be appended after it.
  func cut(at limit: ByteCount, of step: Int) {
    state.withLock { $0.limits[step] = limit }
    let isWhole = endsLine(step)
    let mark = "weft: log truncated at \(limit) (logLimit)\n"
    _ = append(Array(((isWhole ? "" : "\n") + mark).utf8), of: step)
  }

  /// The size of a step's log.
  package func size(of step: Int) -> Int { state.withLock { $0.sizes[step, default: 0] } }

  /// A range of a step's log, as far as it exists and could be written.
  package func read(_ range: Range<Int>, of step: Int) -> [UInt8] {
    (try? bytes(in: range, of: step)) ?? []
  }

  private func bytes(in range: Range<Int>, of step: Int) throws(SystemError) -> [UInt8] {
    if let folder {
      let (logs, size) = state.withLock { ($0.folder, $0.sizes[step, default: 0]) }
      return try logs.bytes(in: range.clamped(to: 0..<size), of: step, in: folder)
    }
    let (file, extents) = state.withLock { ($0.file, $0.logs[step] ?? []) }
    guard let file else { return [] }
    var bytes: [UInt8] = []
    for extent in extents {
      let part = range.clamped(to: extent.logOffset..<(extent.logOffset + extent.count))
      guard !part.isEmpty else { continue }
      let start = extent.fileOffset + (part.lowerBound - extent.logOffset)
      bytes += try file.bytes(in: start..<(start + part.count))
    }
    return bytes
  }

  /// The reason why there is no copy of a log.
  package enum NoCopyError: Error {
    /// Output of the step beyond this limit is missing.
    case cut(at: ByteCount)
    case unwritten(WriteError)
    /// Something has removed bytes of a log that a previous engine has written.
    case shortened(to: Int, from: Int)
  }

  /// A copy of a step's whole log in a file of its own, positioned at its beginning.
  func copy(of step: Int) throws(NoCopyError) -> Descriptor {
    let (limit, fault, loss) = state.withLock {
      ($0.limits[step], $0.fault, $0.lost[step])
    }
    if let loss { throw loss }
    if let limit { throw .cut(at: limit) }
    if let fault { throw .unwritten(fault) }
    do throws(WriteError) {
      return try copyWhole(step)
    } catch {
      throw .unwritten(error)
    }
  }

  private func copyWhole(_ step: Int) throws(WriteError) -> Descriptor {
    let copy: SpoolFile
    do { copy = try SpoolFile() } catch { throw WriteError(error) }
    let beginning = state.withLock { $0.beginnings[step] ?? 0 }
    for start in stride(from: beginning, to: size(of: step), by: StepLogs.pieceBytes) {
      let piece: [UInt8]
      do { piece = try bytes(in: start..<(start + StepLogs.pieceBytes), of: step) } catch {
        throw WriteError(error)
      }
      try copy.append(piece)
    }
    return copy.file
  }

  private static let pieceBytes = 1 << 20
}

extension [StepLogs.Extent] {
  /// Adds an extent, or extends the last one if the two are adjacent.
  fileprivate mutating func add(_ extent: Element) {
    if let last, last.fileOffset + last.count == extent.fileOffset {
      self[count - 1].count += extent.count
    } else {
      append(extent)
    }
  }
}
