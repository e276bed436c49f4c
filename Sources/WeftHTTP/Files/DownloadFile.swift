import Synchronization
import WeftPlatform

/// Writes a body into the file that it is to become.
final class DownloadFile: BodyWriter {
  private struct State: Sendable {
    /// Made with the first byte, on the thread that may be blocked.
    var file: TemporaryFile?
    var size = 0
    var partial: PartialFile?
  }

  let path: String
  private let validator: String?
  private let state: Mutex<State>

  /// - Parameter validator: What makes the file resumable; nil: it is not.
  init(_ path: String, kept validator: String?) {
    self.path = path
    self.validator = validator
    state = Mutex(State())
  }

  /// `nil` if somebody goes on with it already.
  init?(resuming partial: PartialFile) {
    guard let (file, validator) = partial.take() else { return nil }
    path = partial.path
    self.validator = validator
    state = Mutex(State(file: file, size: partial.size))
  }

  /// Whether it names a file and not a directory.
  static func isPath(_ path: String) -> Bool {
    !path.isEmpty && !path.hasSuffix("/") && !path.utf8.contains(0)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPFailure.Kind) {
    let file = try opened()
    do { try file.write(bytes) } catch { throw .systemError(error, at: path) }
    state.withLock { $0.size += bytes.count }
  }

  func end(_ end: BodyEnd) throws(HTTPFailure.Kind) {
    // When this returns, a file that is not kept is gone.
    defer { state.withLock { $0.file = nil } }
    switch end {
    case .complete:
      let file = try opened()
      do { try file.commit(as: path) } catch { throw .systemError(error, at: path) }
    case .broken(let kind): state.withLock { $0.partial = partial(of: $0, after: kind) }
    }
  }

  /// What is left of it after a failure; once.
  func takePartial() -> PartialFile? {
    state.withLock { state in
      defer { state.partial = nil }
      return state.partial
    }
  }

  private func opened() throws(HTTPFailure.Kind) -> TemporaryFile {
    if let file = state.withLock({ $0.file }) { return file }
    let file: TemporaryFile
    do { file = try TemporaryFile(beside: path) } catch { throw .systemError(error, at: path) }
    state.withLock { $0.file = file }
    return file
  }

  private func partial(of state: State, after kind: HTTPFailure.Kind) -> PartialFile? {
    guard let validator, let file = state.file, state.size > 0, HTTPFailure(kind).isTransient
    else { return nil }
    // Whatever a broken write has left behind the counted bytes.
    guard (try? file.cut(to: state.size)) != nil else { return nil }
    return PartialFile(file, size: state.size, path: path, validator: validator)
  }
}

extension HTTPFailure.Kind {
  static func systemError(_ error: SystemError, at path: String) -> HTTPFailure.Kind {
    .file(path: path, why: error.description)
  }
}
