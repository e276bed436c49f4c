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
    // Keys of one process are seen by nobody else; where the system has no random bytes, those of the
    // standard library do.
    let random =
      (try? Entropy.bytes(CacheSecret.length))
      ?? (0..<CacheSecret.length).map { _ in
        .random(in: 0...255)
      }
    return HTTPCache(
      store: MemoryStore(limit: limits.totalBytes), secret: CacheSecret(random), limits: limits)
  }
}
