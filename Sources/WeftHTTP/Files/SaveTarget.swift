import Synchronization
import WeftPlatform

/// Into which file a body goes.
///
/// The bytes go into a new file beside it, which nobody else may read, and which takes the place of whatever
/// has the name when it is complete and safe on the disk. A symbolic link is replaced, not followed.
public struct SaveTarget: Sendable {
  /// Of the file, in a directory that is there. Relative to where this process is.
  public var path: String
  /// What an earlier attempt left. Only the rest is asked for; if the file has changed meanwhile, or the
  /// server sends no parts, the whole.
  public var resuming: PartialFile?

  /// Names where to save, and what of it there is already.
  public init(_ path: String, resuming: PartialFile? = nil) {
    self.path = path
    self.resuming = resuming
  }
}

/// The beginning of a file whose rest did not come. With its last reference it is removed, unless it has been
/// gone on with.
public final class PartialFile: Sendable {
  /// In bytes.
  public let size: Int
  /// Where the whole is to go.
  let path: String
  private let validator: String
  private let temporary: Mutex<TemporaryFile?>

  init(_ temporary: TemporaryFile, size: Int, path: String, validator: String) {
    self.size = size
    self.path = path
    self.validator = validator
    self.temporary = Mutex(temporary)
  }

  /// What makes a server send the rest, or the whole if the file is another one now.
  var conditions: [HTTPHeader] {
    [HTTPHeader("Range", "bytes=\(size)-"), HTTPHeader("If-Range", validator)]
  }

  /// Removes it, unless it has been gone on with: for who has references to it left.
  package func discard() { _ = take() }

  /// Once; nil afterwards.
  func take() -> (file: TemporaryFile, validator: String)? {
    temporary.withLock { held in
      defer { held = nil }
      return held.map { ($0, validator) }
    }
  }
}
