import Synchronization
import WeftPlatform

/// The file to save a body to.
///
/// The bytes are written to a new private file next to it, which replaces the target once it is complete and synced
/// to disk. A symbolic link is replaced, not followed.
public struct SaveTarget: Sendable {
  /// The path of the file, in an existing directory. Relative to the working directory of this process.
  public var path: String
  /// The partial file of an earlier attempt. Only the rest is requested; the whole file if it has changed meanwhile,
  /// or if the server does not support ranges.
  public var resuming: PartialFile?

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
  private let temporary: Mutex<TemporaryFile?>

  init(_ temporary: TemporaryFile, size: Int, path: String, validator: String) {
    self.size = size
    self.path = path
    self.validator = validator
    self.temporary = Mutex(temporary)
  }

  /// The headers that make a server send the rest, or the whole file if it has changed.
  var conditions: [HTTPHeader] {
    [HTTPHeader("Range", "bytes=\(size)-"), HTTPHeader("If-Range", validator)]
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
