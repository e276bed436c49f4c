import Synchronization
import WeftFutures
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
    do throws(UnsafePathError) {
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
  public var message: String { "responses cannot be cached in \"\(path)\": \(why)" }
}

/// A store of responses. A response that cannot be stored is dropped, and one that cannot be read counts as absent:
/// neither is a failure. All methods may be called from any thread, and by several processes if they share a store.
protocol ResponseStore: Sendable {
  /// Returns the responses that fit a request, unordered, and marks them as used. Non-matching responses are held one
  /// at a time, because there may be many.
  func responses(
    for key: ResponseKey, where fits: @escaping @Sendable (StoredResponse) -> Bool
  ) -> Future<[StoredResponse], Never>
  /// Stores a response, replacing one with the same key, `vary` and selection. Settles when other readers can find
  /// it.
  func keep(_ response: StoredResponse) -> Future<Void, Never>
  func remove(_ response: StoredResponse) -> Future<Void, Never>
  /// Removes all responses for the resources, for all credentials.
  func remove(resources: [String]) -> Future<Void, Never>
}

/// The size limits of a cache.
public struct CacheLimits: Sendable, Hashable {
  /// The limit for all responses together. The least recently used ones are removed first.
  public var totalBytes: Int
  /// The limit for one body; a longer one is not stored.
  public var bodyBytes: Int

  /// The defaults are 256 MiB in total and 16 MiB for one body.
  public init(totalBytes: Int = 256 << 20, bodyBytes: Int = 16 << 20) {
    self.totalBytes = totalBytes
    self.bodyBytes = bodyBytes
  }
}

extension StoredResponse {
  /// The approximate size in a store.
  var size: Int {
    let headers = head.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    return body.count + headers + 512
  }

  /// Whether it replaces `other`.
  func replaces(_ other: StoredResponse) -> Bool {
    key == other.key && vary == other.vary && selection == other.selection
  }
}

/// Responses in the memory of this process.
final class MemoryStore: ResponseStore {
  private let shelf: Mutex<LRUCache>

  init(limit: Int) { shelf = Mutex(LRUCache(limit: limit)) }

  func responses(
    for key: ResponseKey, where fits: @escaping @Sendable (StoredResponse) -> Bool
  ) -> Future<[StoredResponse], Never> {
    Future(value: shelf.withLock { $0.take(key, where: fits) })
  }

  func keep(_ response: StoredResponse) -> Future<Void, Never> {
    Future(value: shelf.withLock { $0.keep(response) })
  }

  func remove(_ response: StoredResponse) -> Future<Void, Never> {
    Future(value: shelf.withLock { $0.remove(response) })
  }

  func remove(resources: [String]) -> Future<Void, Never> {
    Future(value: shelf.withLock { $0.remove(resources: resources) })
  }
}

/// The stored responses, and the choice which to evict.
struct LRUCache: Sendable {
  private struct Place: Sendable {
    var response: StoredResponse
    /// The value of the global use counter at the last use.
    var lastUse: UInt64
  }

  private let limit: Int
  private var places: [String: [Place]] = [:]
  private var uses: UInt64 = 0
  private(set) var size = 0

  init(limit: Int) { self.limit = limit }

  mutating func take(
    _ key: ResponseKey, where fits: (StoredResponse) -> Bool = { _ in true }
  ) -> [StoredResponse] {
    uses += 1
    var taken: [StoredResponse] = []
    for index in places[key.resource]?.indices ?? 0..<0 {
      let response = places[key.resource]![index].response
      guard response.key == key, fits(response) else { continue }
      places[key.resource]![index].lastUse = uses
      taken.append(response)
    }
    return taken
  }

  mutating func keep(_ response: StoredResponse) {
    remove(response)
    uses += 1
    places[response.key.resource, default: []].append(Place(response: response, lastUse: uses))
    size += response.size
    if size > limit { shrink() }
  }

  mutating func remove(_ response: StoredResponse) {
    remove(from: response.key.resource) { $0.replaces(response) }
  }

  mutating func remove(resources: [String]) {
    for resource in resources { remove(from: resource) { _ in true } }
  }

  /// Shrinks to an eighth below the limit, so that not every new response triggers an eviction.
  private mutating func shrink() {
    let all = places.values.joined().sorted { $0.lastUse < $1.lastUse }
    for place in all where size > limit - limit / 8 { remove(place.response) }
  }

  private mutating func remove(from resource: String, where goes: (StoredResponse) -> Bool) {
    guard let held = places[resource] else { return }
    let kept = held.filter { !goes($0.response) }
    size -= held.reduce(0) { $0 + $1.response.size } - kept.reduce(0) { $0 + $1.response.size }
    places[resource] = kept.isEmpty ? nil : kept
  }
}
