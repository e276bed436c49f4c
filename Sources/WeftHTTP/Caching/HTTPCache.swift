import WeftPlatform

/// Answers that are kept for later: a private cache as RFC 9111 has it, for one user, who may have several
/// credentials. An answer is never given to a request with others than it was asked with.
///
/// The cache itself only keeps; ``CachingTransport`` uses it. Any number of them may share one.
public struct HTTPCache: Sendable {
  let store: any CacheStore
  let secret: CacheSecret
  /// What it was made with.
  public let limits: CacheLimits

  /// A cache that is gone when this process ends.
  public static func inMemory(limits: CacheLimits = CacheLimits()) -> HTTPCache {
    // Nobody else sees the keys of one process; where the system has no random bytes, those of the
    // standard library do.
    let random =
      (try? Entropy.bytes(CacheSecret.length))
      ?? (0..<CacheSecret.length).map { _ in
        .random(in: 0...255)
      }
    return HTTPCache(
      store: MemoryStore(limit: limits.totalBytes), secret: CacheSecret(random), limits: limits)
  }

  /// A cache that others find too: later runs, and processes at the same time.
  ///
  /// Bodies lie in the folder as they are; URLs, credentials and what else a request has only as codes
  /// that a secret of the folder is needed for. What is damaged is as good as not there, and what cannot be
  /// written is not kept: neither makes a request fail.
  ///
  /// - Parameter folder: Made where it is missing. The cache has a folder of its own in it, `http-1`, that
  ///   only this user may enter. May block for as long as a disk does.
  public static func onDisk(
    _ folder: String, limits: CacheLimits = CacheLimits()
  ) throws(CacheFolderFault) -> HTTPCache {
    try onDisk(folder, limits: limits) { WallClock.now.nanoseconds / 1_000_000_000 }
  }

  /// - Parameter now: Seconds since 1970.
  static func onDisk(
    _ path: String, limits: CacheLimits, now: @escaping @Sendable () -> Int64
  ) throws(CacheFolderFault) -> HTTPCache {
    do throws(UnsafePlace) {
      let folder = try PrivateFolder("http-1", in: path)
      return HTTPCache(
        store: DiskStore(folder, limits: limits, now: now),
        secret: CacheSecret(try folder.secret("secret", count: CacheSecret.length)), limits: limits)
    } catch {
      throw CacheFolderFault(path: path, why: error.message)
    }
  }
}

/// Why a folder cannot be a cache.
public struct CacheFolderFault: Error, Sendable, Hashable {
  /// As it was given.
  public let path: String
  /// What is wrong with it.
  public let why: String

  /// What was found, as a sentence without a full stop.
  public var message: String { "answers cannot be kept in \"\(path)\": \(why)" }
}
