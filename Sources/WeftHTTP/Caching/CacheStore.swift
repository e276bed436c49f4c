import WeftFutures

/// Where answers are kept. What cannot be kept is not, and what cannot be read is not there: neither is a
/// failure. All of it may be called from any thread, and by several processes where they share a store.
protocol CacheStore: Sendable {
  /// Those that fit a request, in no order; of others no more than one is held at a time, for there may be
  /// many. Counts as a use of them.
  func responses(
    for key: CacheKey, where fits: @escaping @Sendable (StoredResponse) -> Bool
  ) -> Future<[StoredResponse], Never>
  /// In the place of one with the same key, `vary` and selection. Settles when others find it.
  func keep(_ response: StoredResponse) -> Future<Void, Never>
  func remove(_ response: StoredResponse) -> Future<Void, Never>
  /// Removes all answers of resources, whoever has asked.
  func remove(resources: [String]) -> Future<Void, Never>
}

/// How much a cache keeps.
public struct CacheLimits: Sendable, Hashable {
  /// Of all answers together. What was not used for longest goes first.
  public var totalBytes: Int
  /// Of one body; a longer one is not kept.
  public var bodyBytes: Int

  /// 256 MiB in all and 16 MiB for one body unless said otherwise.
  public init(totalBytes: Int = 256 << 20, bodyBytes: Int = 16 << 20) {
    self.totalBytes = totalBytes
    self.bodyBytes = bodyBytes
  }
}

extension StoredResponse {
  /// About what it takes in a store.
  var size: Int {
    let headers = head.headers.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    return body.count + headers + 512
  }

  /// Whether it takes the place of `other`.
  func replaces(_ other: StoredResponse) -> Bool {
    key == other.key && vary == other.vary && selection == other.selection
  }
}
