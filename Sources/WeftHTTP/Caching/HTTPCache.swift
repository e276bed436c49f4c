import WeftPlatform

/// Stored responses: a private cache as defined by RFC 9111, for one user with any number of credentials. A response
/// is only used for requests with the credentials that it was requested with.
///
/// The cache itself only stores; any number of ``CachingTransport``s may share it.
public struct HTTPCache: Sendable {
  let store: any ResponseStore
  let secret: CacheSecret
  /// The limits it was created with.
  public let limits: CacheLimits

  /// Creates a cache that lasts as long as this process.
  public static func inMemory(limits: CacheLimits = CacheLimits()) -> HTTPCache {
    // Keys of this process are not visible to others; without system randomness, the standard library's is enough.
    let random =
      (try? Entropy.bytes(CacheSecret.length))
      ?? (0..<CacheSecret.length).map { _ in
        .random(in: 0...255)
      }
    return HTTPCache(
      store: MemoryStore(limit: limits.totalBytes), secret: CacheSecret(random), limits: limits)
  }

  /// Creates a cache that later runs and concurrent processes share.
  ///
  /// Bodies are stored as they are; URLs, credentials and other request data only as codes that depend on a secret of
  /// the folder. Damaged entries count as absent, and entries that cannot be written are dropped: neither fails a
  /// request.
  ///
  /// - Parameter folder: Created if missing. The cache uses the subfolder `http-1`, which only this user may enter.
  ///   May block as long as a disk does.
  public static func onDisk(
    _ folder: String, limits: CacheLimits = CacheLimits()
  ) throws(CacheFolderError) -> HTTPCache {
    try onDisk(folder, limits: limits) { WallClock.now.nanoseconds / 1_000_000_000 }
  }

  /// - Parameter now: The seconds since 1970.
  static func onDisk(
    _ path: String, limits: CacheLimits, now: @escaping @Sendable () -> Int64
  ) throws(CacheFolderError) -> HTTPCache {
    do throws(UnsafePlaceError) {
      let folder = try PrivateFolder("http-1", in: path)
      return HTTPCache(
        store: DiskStore(folder, limits: limits, now: now),
        secret: CacheSecret(try folder.secret("secret", count: CacheSecret.length)), limits: limits)
    } catch {
      throw CacheFolderError(path: path, why: error.message)
    }
  }
}

/// The reason why a folder cannot be a cache.
public struct CacheFolderError: Error, Sendable, Hashable {
  /// The path as given.
  public let path: String
  /// The problem with it.
  public let why: String

  /// The error as a sentence without a full stop.
  public var message: String { "answers cannot be kept in \"\(path)\": \(why)" }
}
