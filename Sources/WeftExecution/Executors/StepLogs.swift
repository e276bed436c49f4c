import Synchronization
package import WeftDefinition
import WeftEncoding
import WeftEvents
package import WeftPlanning
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

  fileprivate static let newline = [UInt8(ascii: "\n")]

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

/// The folder of the steps' logs, one file for each step.
package struct LogFolder: Sendable {
  private let directory: PrivateDirectory

  package init(_ directory: PrivateDirectory) {
    self.directory = directory
  }

  /// The file name of a step's log: its address, with all characters but letters, digits and a few signs
  /// escaped as `%41`. A long one is cut, and made unique by the SHA-256 of the address.
  package static func fileName(of step: StepAddress) -> String {
    var name: [UInt8] = []
    for byte in step.text.utf8 {
      if isPlain(byte), byte != UInt8(ascii: ".") || !name.isEmpty {
        name.append(byte)
      } else {
        name += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0xF)]
      }
    }
    if name.count > nameBytes {
      let hash = SHA256.text(of: SHA256.digest(of: step.text.utf8)).utf8.prefix(hashDigits)
      name = name.prefix(nameBytes) + [UInt8(ascii: "~")] + hash
    }
    return String(decoding: name, as: UTF8.self) + ".log"
  }

  /// Short enough to be a valid file name everywhere, including the suffix.
  private static let nameBytes = 200
  /// 128 bits: collisions are infeasible.
  private static let hashDigits = 32

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: [".", "_", "-", "[", "]", "+", "=", "@", ","].contains { UInt8(ascii: $0) == byte }
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  /// A step's log, opened for reading; `nil` if there is none, or if it is not a file owned by this user.
  package func log(of step: StepAddress, forWriting: Bool = false) -> Descriptor? {
    try? open(step, isNew: forWriting)
  }

  /// - Parameter isNew: Whether to create the file if it does not exist.
  func open(_ step: StepAddress, isNew: Bool) throws(WriteError) -> Descriptor {
    do {
      return try directory.file(
        LogFolder.fileName(of: step), isNew ? .makingOrAppending : .reading)
    } catch {
      throw error.error.map { WriteError($0) } ?? .other(.notPermitted)
    }
  }
}

/// The logs of steps that are files in a folder.
struct FolderLogs {
  /// Addresses of steps that have begun, by their numbers.
  var names: [Int: StepAddress] = [:]
  /// The offset at which this engine's log begins in the file, after the output of previous engines.
  private var bases: [Int: Int] = [:]
  private var open: [Int: Descriptor] = [:]

  /// The destination of a step's output: an open file, or one to be opened.
  enum Place {
    case file(Descriptor)
    /// - Parameter isNew: Whether this engine has written nothing to it.
    case name(StepAddress, isNew: Bool)

    /// - Returns: The file, if it had to be opened first.
    func append(
      _ bytes: [UInt8], in folder: LogFolder, _ reserve: DescriptorReserve
    ) throws(WriteError) -> Opened? {
      func write(to file: Descriptor, stays: Bool) throws(WriteError) -> Opened {
        var base = (try? file.byteCount()) ?? 0
        // A previous engine may have left an unfinished line.
        if case .name(_, isNew: true) = self, base > 0,
          (try? file.piece(at: base - 1, atMost: 1)) != StepLogs.newline
        {
          try file.writeAll(StepLogs.newline)
          base += 1
        }
        try file.writeAll(bytes)
        return Opened(file: stays ? file : nil, base: base)
      }
      switch self {
      case .file(let file):
        try file.writeAll(bytes)
        return nil
      case .name(let name, _):
        do throws(WriteError) {
          return try write(to: folder.open(name, isNew: true), stays: true)
        } catch {
          guard error.error.isShortage else { throw error }
          return try reserve.spend { () throws(WriteError) in
            try write(to: folder.open(name, isNew: true), stays: false)
          }
        }
      }
    }
  }

  struct Opened {
    /// `nil` if it was closed again, for want of descriptors.
    let file: Descriptor?
    /// The bytes that an earlier attempt or a previous engine has written to it.
    let base: Int
  }

  /// `nil` for a step that has not begun.
  func place(of step: Int) -> Place? {
    open[step].map(Place.file)
      ?? names[step].map { Place.name($0, isNew: bases[step] == nil) }
  }

  mutating func keep(_ opened: Opened, of step: Int) {
    open[step] = opened.file
    if bases[step] == nil { bases[step] = opened.base }
  }

  /// Adds a log that a previous engine has written, from `base` on in its file.
  mutating func adopt(_ step: Int, _ address: StepAddress, base: Int) {
    names[step] = address
    bases[step] = base
  }

  mutating func close(_ step: Int) { open[step] = nil }

  mutating func forget(_ step: Int) {
    names[step] = nil
    bases[step] = nil
    open[step] = nil
  }

  /// A range of a log, as far as it exists.
  func bytes(
    in range: Range<Int>, of step: Int, in folder: LogFolder
  ) throws(SystemError) -> [UInt8] {
    guard !range.isEmpty, let name = names[step], let base = bases[step] else { return [] }
    let file: Descriptor
    do throws(WriteError) {
      if let opened = open[step] {
        file = opened
      } else {
        file = try folder.open(name, isNew: false)
      }
    } catch {
      throw error.error
    }
    return try file.piece(at: base + range.lowerBound, atMost: range.count)
  }
}
