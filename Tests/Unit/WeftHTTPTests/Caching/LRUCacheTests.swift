import Testing

@testable import WeftHTTP

/// The responses kept in memory, and the order of eviction.
struct LRUCacheTests {
  private func response(_ resource: String, _ selection: String = "", bytes: Int = 1000)
    -> StoredResponse
  {
    StoredResponse(
      key: ResponseKey(resource: resource, requester: "a"), vary: [], selection: selection,
      head: HTTPResponseHead(status: 200), body: [UInt8](repeating: 0, count: bytes),
      requestTime: 0, responseTime: 0)
  }

  private func held(_ shelf: inout LRUCache, _ names: [String]) -> [String] {
    names.filter { !shelf.take(ResponseKey(resource: $0, requester: "a")).isEmpty }
  }

  @Test func leastRecentlyUsedIsEvictedFirst() {
    var shelf = LRUCache(limit: 5 * response("").size)
    for name in ["a", "b", "c", "d"] { shelf.keep(response(name)) }
    _ = shelf.take(ResponseKey(resource: "a", requester: "a"))
    for name in ["e", "f"] { shelf.keep(response(name)) }
    #expect(held(&shelf, ["a", "b", "c", "d", "e", "f"]) == ["a", "d", "e", "f"])
    #expect(shelf.size == 4 * response("").size)
  }

  @Test func onlyTheMatchingResponseCountsAsUsed() {
    var shelf = LRUCache(limit: 8 * response("").size)
    let key = ResponseKey(resource: "a", requester: "a")
    for which in ["x", "y", "z"] { shelf.keep(response("a", which)) }
    #expect(shelf.take(key) { $0.selection == "x" }.map(\.selection) == ["x"])
    for name in ["b", "c", "d", "e", "f", "g"] { shelf.keep(response(name)) }
    #expect(shelf.take(key).map(\.selection) == ["x"])
  }

  @Test func theSameAnswerIsKeptOnce() {
    var shelf = LRUCache(limit: 1 << 20)
    shelf.keep(response("a", "x", bytes: 10))
    shelf.keep(response("a", "x", bytes: 20))
    shelf.keep(response("a", "y", bytes: 30))
    let held = shelf.take(ResponseKey(resource: "a", requester: "a"))
    #expect(held.map(\.body.count).sorted() == [20, 30])
    #expect(shelf.size == held.reduce(0) { $0 + $1.size })
  }

  @Test func removedResponseFreesItsBytes() {
    var shelf = LRUCache(limit: 1 << 20)
    for name in ["a", "b"] { for which in ["x", "y"] { shelf.keep(response(name, which)) } }
    shelf.remove(response("a", "x"))
    #expect(shelf.take(ResponseKey(resource: "a", requester: "a")).map(\.selection) == ["y"])
    shelf.remove(resources: ["a", "b", "c"])
    #expect(held(&shelf, ["a", "b"]).isEmpty)
    #expect(shelf.size == 0)
  }

  @Test func responseLargerThanTheCacheIsNotStored() {
    var shelf = LRUCache(limit: 2000)
    shelf.keep(response("a", bytes: 3000))
    #expect(shelf.size == 0)
  }
}
