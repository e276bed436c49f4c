import Synchronization
package import WeftPlatform

/// Hashes of files that were read before, so that unchanged files need not be read again.
///
/// A file counts as unchanged if its ``FileStamp`` is. A file modified shortly before it was read is not remembered,
/// because it could be written again within the same tick of the file system's clock (git calls this racy).
package final class FileMemory: Sendable {
  struct Identity: Hashable {
    var device: UInt64
    var inode: UInt64
  }

  struct Known {
    var size: Int64
    var modified: Int64
    var changed: Int64
    var digest: [UInt8]
    /// Seconds since 1970.
    var lastUse: Int64
  }

  struct State {
    var known: [Identity: Known] = [:]
    var isChanged = false
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> Int64

  /// The coarsest timestamp resolution of a file system: that of FAT, in nanoseconds.
  static let tick: Int64 = 2_000_000_000

  /// - Parameters:
  ///   - bytes: The result of ``bytes()``; anything else counts as empty.
  ///   - now: Returns nanoseconds since 1970.
  package init(_ bytes: [UInt8] = [], now: @escaping @Sendable () -> Int64) {
    self.now = now
    state = Mutex(State(known: FileMemory.read(bytes)))
  }

  /// Returns the hash of a file that has not changed since it was read; `nil` if it must be read.
  package func digest(of stamp: FileStamp) -> SHA256.Digest? {
    let now = now() / 1_000_000_000
    return state.withLock { state in
      let identity = Identity(stamp)
      guard var known = state.known[identity], known.size == stamp.size,
        known.modified == stamp.modified, known.changed == stamp.changed
      else { return nil }
      if known.lastUse != now {
        known.lastUse = now
        state.known[identity] = known
      }
      return known.digest
    }
  }

  /// The time before a file is read, for ``learn(_:_:readAt:)``.
  package var moment: Int64 { now() }

  /// Remembers the hash of a file.
  ///
  /// - Parameter moment: A time before its first byte was read.
  package func learn(_ stamp: FileStamp, _ digest: SHA256.Digest, readAt moment: Int64) {
    guard max(stamp.modified, stamp.changed) < moment - FileMemory.tick else { return }
    state.withLock { state in
      state.known[Identity(stamp)] = Known(
        size: stamp.size, modified: stamp.modified, changed: stamp.changed, digest: digest,
        lastUse: moment / 1_000_000_000)
      state.isChanged = true
    }
  }

  /// Returns the content to save; `nil` if it has not changed.
  package func bytes() -> [UInt8]? {
    let known = state.withLock { state in
      defer { state.isChanged = false }
      return state.isChanged ? state.known : nil
    }
    return known.map(FileMemory.written)
  }
}

extension FileMemory.Identity {
  fileprivate init(_ stamp: FileStamp) { self.init(device: stamp.device, inode: stamp.inode) }
}
