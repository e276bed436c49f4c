import Synchronization
import WeftFutures

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
