import Synchronization
import WeftHTTP
import WeftPlatform

/// The source of a request body: memory directly, files through another thread.
struct OutgoingBody {
  private enum Source {
    case memory(BodyCursor)
    case files(BodySupply)
  }

  private var source: Source

  /// - Parameter tell: Called when bytes arrive after there were none.
  init(_ body: OpenedBody, threads: ThreadPool, report: @escaping @Sendable () -> Void) {
    let hasFiles = body.pieces.contains { if case .file = $0 { true } else { false } }
    source =
      hasFiles
      ? .files(BodySupply(body, threads: threads, report: report)) : .memory(BodyCursor(body))
  }

  mutating func take(atMost room: Int) -> SupplyState.Delivery {
    switch source {
    case .files(let supply): return supply.take(atMost: room)
    case .memory(var cursor):
      defer { source = .memory(cursor) }
      do { return .bytes(try cursor.next(atMost: room)) } catch { return .failed(error) }
    }
  }
}

/// A regular file being sent.
final class SourceFile: Sendable {
  let path: String
  let size: Int
  fileprivate let file: Descriptor

  /// Blocks as long as the file system does.
  init(_ path: String) throws(HTTPFailure.Kind) {
    self.path = path
    do throws(SystemError) {
      (file, size) = try Descriptor.opened(regularFile: path)
    } catch {
      throw error == .invalid
        ? .file(path: path, why: "not a regular file") : .systemError(error, at: path)
    }
  }
}

/// An opened body, ready to be sent.
struct OpenedBody: Sendable {
  enum Piece: Sendable {
    case bytes([UInt8])
    case file(SourceFile)
  }

  let pieces: [Piece]

  /// Blocks if the body contains files.
  init(_ body: EncodedBody) throws(HTTPFailure.Kind) {
    var pieces: [Piece] = []
    for segment in body.segments {
      switch segment {
      case .bytes(let bytes): pieces.append(.bytes(bytes))
      case .file(let path): pieces.append(.file(try SourceFile(path)))
      }
    }
    self.pieces = pieces
  }

  var size: Int {
    pieces.reduce(0) { sum, piece in
      switch piece {
      case .bytes(let bytes): sum + bytes.count
      case .file(let file): sum + file.size
      }
    }
  }
}

/// Reads the pieces of a body in order. For one thread at a time.
struct BodyCursor: Sendable {
  private let pieces: [OpenedBody.Piece]
  private var index = 0
  /// The offset within the piece at `index`.
  private var offset = 0

  init(_ body: OpenedBody) { pieces = body.pieces }

  /// Returns the next bytes, at most `room`; empty at the end. A file that has shrunk is a failure because its length
  /// was already sent; bytes appended to it meanwhile are not sent.
  mutating func next(atMost room: Int) throws(HTTPFailure.Kind) -> ArraySlice<UInt8> {
    while index < pieces.count {
      let found: ArraySlice<UInt8>
      switch pieces[index] {
      case .bytes(let bytes): found = bytes[offset...].prefix(room)
      case .file(let file): found = try Self.read(file, from: offset, atMost: room)
      }
      if !found.isEmpty {
        offset += found.count
        return found
      }
      index += 1
      offset = 0
    }
    return []
  }

  private static func read(
    _ file: SourceFile, from offset: Int, atMost room: Int
  ) throws(HTTPFailure.Kind) -> ArraySlice<UInt8> {
    let wanted = min(room, file.size - offset)
    guard wanted > 0 else { return [] }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try file.file.piece(at: offset, atMost: wanted)
    } catch {
      throw .systemError(error, at: file.path)
    }
    if bytes.isEmpty { throw .file(path: file.path, why: "shrank while it was sent") }
    return bytes[...]
  }
}

/// The bytes that are ready of a body read from files: the chunk being sent, and the next one.
struct SupplyState: Sendable {
  enum Delivery {
    /// Empty at the end of the body.
    case bytes(ArraySlice<UInt8>)
    /// More bytes will come, and the sender waits for a notification.
    case later
    case failed(HTTPFailure.Kind)
  }

  private var current: ArraySlice<UInt8> = []
  private var following: ArraySlice<UInt8>?
  private var isReading = false
  private var isAtEnd = false
  private var isAwaited = false
  private var failure: HTTPFailure.Kind?

  /// - Returns: The bytes to send, and whether the caller must read another chunk meanwhile.
  mutating func take(atMost room: Int) -> (delivery: Delivery, reads: Bool) {
    if current.isEmpty, let following {
      current = following
      self.following = nil
    }
    let reads = !isReading && !isAtEnd && following == nil
    if reads { isReading = true }
    guard current.isEmpty else {
      defer { current = current.dropFirst(room) }
      return (.bytes(current.prefix(room)), reads)
    }
    if let failure { return (.failed(failure), reads) }
    if isAtEnd { return (.bytes([]), reads) }
    isAwaited = true
    return (.later, reads)
  }

  /// - Parameter chunk: Empty at the end of the body.
  /// - Returns: Whether the sender waits for it.
  mutating func add(_ chunk: Result<ArraySlice<UInt8>, HTTPFailure.Kind>) -> Bool {
    isReading = false
    switch chunk {
    case .success(let bytes) where !bytes.isEmpty: following = bytes
    case .success: isAtEnd = true
    case .failure(let kind): (isAtEnd, failure) = (true, kind)
    }
    defer { isAwaited = false }
    return isAwaited
  }
}

/// Passes a body from a thread that may block on a disk to the one that sends it.
final class BodySupply: Sendable {
  private let state = Mutex(SupplyState())
  private let cursor: Mutex<BodyCursor>
  private let threads: ThreadPool
  private let report: @Sendable () -> Void

  static let chunkBytes = 256 * 1024

  /// - Parameter tell: Called on another thread when bytes arrive after there were none.
  init(_ body: OpenedBody, threads: ThreadPool, report: @escaping @Sendable () -> Void) {
    cursor = Mutex(BodyCursor(body))
    self.threads = threads
    self.report = report
  }

  func take(atMost room: Int) -> SupplyState.Delivery {
    let (delivery, reads) = state.withLock { $0.take(atMost: room) }
    if reads { read() }
    return delivery
  }

  private func read() {
    do {
      try threads.submit { [self] in
        add(
          cursor.withLock { cursor in
            Result { () throws(HTTPFailure.Kind) in try cursor.next(atMost: Self.chunkBytes) }
          })
      }
    } catch {
      add(.failure(.other(error.message)))
    }
  }

  private func add(_ chunk: Result<ArraySlice<UInt8>, HTTPFailure.Kind>) {
    if state.withLock({ $0.add(chunk) }) { report() }
  }
}
