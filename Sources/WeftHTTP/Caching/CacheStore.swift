import WeftFutures

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
