import Synchronization
package import WeftPlatform

/// The file to save a body to.
///
/// The bytes are written to a new private file next to it, which replaces the target once it is complete and synced
/// to disk. A symbolic link is replaced, not followed. A device, a FIFO or a socket is refused, also behind a link.
public struct SaveTarget: Sendable {
  /// The path of the file, in an existing directory. Relative to the working directory of this process.
  public var path: String
  /// The partial file of an earlier attempt. Only the rest is requested; the whole file if it has changed meanwhile,
  /// or if the server does not support ranges.
  public var resuming: PartialFile?
  /// Called after each piece with the bytes that the file has now, and those that it will have if that is known. Not
  /// called at once by several threads.
  package var watch: (@Sendable (_ bytes: Int, _ whole: Int?) -> Void)?

  /// Creates a target, optionally with a partial file to resume.
  public init(_ path: String, resuming: PartialFile? = nil) {
    self.path = path
    self.resuming = resuming
  }
}

/// The beginning of a file whose rest did not arrive. It is removed with its last reference, unless a later request
/// has resumed it.
public final class PartialFile: Sendable {
  /// The size in bytes.
  public let size: Int
  /// The path of the complete file.
  let path: String
  private let validator: String
  /// The size of the complete file, if it is known.
  private let whole: Int?
  private let temporary: Mutex<TemporaryFile?>

  init(_ temporary: TemporaryFile, size: Int, whole: Int?, path: String, validator: String) {
    self.size = size
    self.whole = whole
    self.path = path
    self.validator = validator
    self.temporary = Mutex(temporary)
  }

  /// The headers that make a server send the rest, or the whole file if it has changed.
  var conditions: [HTTPHeader] {
    [HTTPHeader("Range", "bytes=\(size)-"), HTTPHeader("If-Range", validator)]
  }

  /// Whether a partial response shows that it does not belong to this beginning. It need not repeat the validator.
  ///
  /// - Parameter whole: The size of the complete file according to the response.
  func isOfOtherVersion(than head: HTTPResponseHead, whole: Int) -> Bool {
    let name = validator.hasPrefix("\"") ? "etag" : "last-modified"
    if let other = head.headers[name], ASCII.trimmed(other) != validator { return true }
    return self.whole.map { $0 != whole } ?? false
  }

  /// Removes the file even if there are other references, unless a later request has resumed it.
  package func discard() { _ = take() }

  /// Returns the file once; `nil` afterwards.
  func take() -> (file: TemporaryFile, validator: String)? {
    temporary.withLock { held in
      defer { held = nil }
      return held.map { ($0, validator) }
    }
  }
}

/// Writes a response body to a temporary file and commits it as the target.
final class DownloadFile: BodyWriter {
  private struct State: Sendable {
    /// Created with the first byte, on the thread that may block.
    var file: TemporaryFile?
    var size = 0
    var partial: PartialFile?
  }

  let path: String
  private let validator: String?
  private let state: Mutex<State>
  /// The size of the complete file, and the observer of the growing one.
  private let whole: Int?
  private let watch: (@Sendable (_ bytes: Int, _ whole: Int?) -> Void)?

  /// - Parameters:
  ///   - validator: Makes the file resumable; `nil` if it is not.
  ///   - whole: The size of the complete file, if it is known.
  init(_ target: SaveTarget, kept validator: String?, whole: Int? = nil) {
    path = target.path
    (self.whole, watch) = (whole, target.watch)
    self.validator = validator
    state = Mutex(State())
  }

  /// `nil` if the partial file has been taken already.
  init?(resuming partial: PartialFile, for target: SaveTarget, whole: Int? = nil) {
    (self.whole, watch) = (whole, target.watch)
    guard let (file, validator) = partial.take() else { return nil }
    path = partial.path
    self.validator = validator
    state = Mutex(State(file: file, size: partial.size))
  }

  /// Whether it names a file rather than a directory.
  static func isPath(_ path: String) -> Bool {
    !path.isEmpty && !path.hasSuffix("/") && !path.utf8.contains(0)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure.Kind) {
    let file = try opened()
    do { try file.write(bytes) } catch { throw .systemError(error, at: path) }
    let size = state.withLock { state in
      state.size += bytes.count
      return state.size
    }
    watch?(size, whole)
  }

  func end(_ end: BodyEnd) throws(HTTPFailure.Kind) {
    // When this returns, a file that is not kept has been removed.
    defer { state.withLock { $0.file = nil } }
    switch end {
    case .complete:
      let (file, size) = (try opened(), state.withLock { $0.size })
      if let whole, size != whole { throw .partial(received: size, expected: whole) }
      do { try file.commit(as: path) } catch { throw .systemError(error, at: path) }
    case .broken(let kind): state.withLock { $0.partial = partial(of: $0, after: kind) }
    }
  }

  /// Returns the partial file after a failure; only once.
  func takePartial() -> PartialFile? {
    state.withLock { state in
      defer { state.partial = nil }
      return state.partial
    }
  }

  private func opened() throws(HTTPFailure.Kind) -> TemporaryFile {
    if let file = state.withLock({ $0.file }) { return file }
    // A device, such as "/dev/null", would become a file for every program of the machine.
    if let stamp = try? FileStamp(at: path), case .other(let noun) = stamp.kind {
      throw .file(path: path, why: ReplacementError.special(noun).message)
    }
    let file: TemporaryFile
    do { file = try TemporaryFile(beside: path) } catch { throw .systemError(error, at: path) }
    state.withLock { $0.file = file }
    return file
  }

  private func partial(of state: State, after kind: HTTPFailure.Kind) -> PartialFile? {
    guard let validator, let file = state.file, state.size > 0, HTTPFailure(kind).isTransient
    else { return nil }
    // Removes bytes that a failed write left after the counted ones.
    guard (try? file.cut(to: state.size)) != nil else { return nil }
    return PartialFile(file, size: state.size, whole: whole, path: path, validator: validator)
  }
}

extension HTTPFailure.Kind {
  package static func systemError(_ error: SystemError, at path: String) -> HTTPFailure.Kind {
    .file(path: path, why: error.description)
  }
}
