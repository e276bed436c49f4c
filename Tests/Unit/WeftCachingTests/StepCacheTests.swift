import Glibc
import Testing
import WeftPlatform

@testable import WeftCaching

/// Cached results are restored exactly, or not at all.
struct StepCacheTests {
  private let scratch = Scratch()

  private func store(_ cache: StepCache, _ key: CacheKey, outputs: [String]) throws {
    try cache.store(CacheEntry(key, outputs: outputs), from: scratch.reader())
  }

  private func makeOutputs() {
    scratch.write("out/a", "first")
    scratch.write("out/bin/run", "#!/bin/sh", mode: 0o755)
    scratch.link("out/l", to: "a")
    try! FileSystem.makeDirectory(scratch.path + "/out/empty")
    scratch.write("one.txt", "single")
  }

  @Test func filesDirectoriesLinksAndModesComeBack() throws {
    let cache = try scratch.cache()
    makeOutputs()
    try store(cache, .sample("1"), outputs: ["out", "one.txt"])
    let before = try scratch.reader().tree(at: ["out"])
    scratch.remove("out")
    scratch.remove("one.txt")
    let entry = try #require(cache.entry(of: "build", .sample("1")))
    #expect(try cache.restore(entry, to: scratch.reader()).outputs == 2)
    #expect(try scratch.reader().tree(at: ["out"]) == before)
    #expect(scratch.read("one.txt") == "single" && scratch.mode("out/bin/run") & 0o100 != 0)
    #expect(try cache.restore(entry, to: scratch.reader()).outputs == 0, "nothing was missing")
  }

  @Test("X06: what was changed is put back, and what was added stays and is told of")
  func changesAndAdditions() throws {
    let cache = try scratch.cache()
    makeOutputs()
    try store(cache, .sample("1"), outputs: ["out", "one.txt"])
    scratch.write("out/a", "edited")
    scratch.write("out/mine/notes", "x")
    mkfifo(scratch.path + "/out/fifo", 0o600)
    let entry = try #require(cache.entry(of: "build", .sample("1")))
    let restored = try cache.restore(entry, to: scratch.reader())
    #expect(restored.outputs == 1)
    #expect(restored.foreign.map(\.path) == ["out/mine", "out/mine/notes"])
    #expect(scratch.read("out/a") == "first" && scratch.read("out/mine/notes") == "x")
    #expect(scratch.mode("out/fifo") == 0o600)
  }

  @Test("X06: what has the place of what is to be put back stays, and nothing is changed")
  func misplacedThings() throws {
    let cache = try scratch.cache()
    makeOutputs()
    try store(cache, .sample("1"), outputs: ["out", "one.txt"])
    for name in ["out", "one.txt"] { scratch.remove(name) }
    scratch.write("one.txt/inside", "a directory now")
    let entry = try #require(cache.entry(of: "build", .sample("1")))
    #expect(throws: CacheError.inTheWay("one.txt")) {
      try cache.restore(entry, to: scratch.reader())
    }
    #expect(scratch.read("one.txt/inside") == "a directory now" && scratch.read("out/a") == nil)
    scratch.remove("one.txt")
    scratch.write("out", "a file now")
    #expect(throws: CacheError.inTheWay("out")) { try cache.restore(entry, to: scratch.reader()) }
    #expect(scratch.read("out") == "a file now")
  }

  @Test("X06: what an earlier result of the step has left goes, unless it was changed since")
  func outdatedFiles() throws {
    let cache = try scratch.cache()
    scratch.write("out/both", "1")
    scratch.write("out/old", "1")
    scratch.write("out/dir/old", "1")
    scratch.write("out/edited", "1")
    try store(cache, .sample("1"), outputs: ["out"])
    scratch.remove("out")
    scratch.write("out/both", "2")
    scratch.write("out/dir", "a file in this one")
    try store(cache, .sample("2"), outputs: ["out"])
    scratch.remove("out")
    let one = try #require(cache.entry(of: "build", .sample("1")))
    let two = try #require(cache.entry(of: "build", .sample("2")))
    _ = try cache.restore(one, to: scratch.reader())
    scratch.write("out/edited", "by the user")
    let restored = try cache.restore(two, to: scratch.reader())
    #expect(restored.foreign.map(\.path) == ["out/edited"])
    #expect(scratch.read("out/both") == "2" && scratch.read("out/old") == nil)
    #expect(scratch.read("out/dir") == "a file in this one")
    #expect(scratch.read("out/edited") == "by the user")
    scratch.remove("out/edited")
    _ = try cache.restore(one, to: scratch.reader())
    #expect(scratch.read("out/dir/old") == "1" && scratch.read("out/old") == "1")
  }

  @Test("X06: a file that the step has not written to is not kept, and has to stay as it is")
  func untouchedFiles() throws {
    let cache = try scratch.cache()
    scratch.write("out/notes", "mine")
    scratch.write("out/made", "0")
    let before = try scratch.reader().stamps(at: ["out"])
    scratch.write("out/made", "1")
    let entry = try cache.store(
      CacheEntry(.sample("1"), outputs: ["out"]), since: before, from: scratch.reader())
    #expect(entry.foreign.map(\.path) == ["out/notes"])
    let kept = try #require(cache.entry(of: "build", .sample("1")))
    #expect(kept.foreign == entry.foreign && kept.files == entry.files)
    scratch.write("out/made", "edited")
    #expect(try cache.restore(kept, to: scratch.reader()).foreign.map(\.path) == ["out/notes"])
    #expect(scratch.read("out/made") == "1")
    scratch.write("out/notes", "more of mine")
    #expect(throws: CacheError.changed("out/notes")) {
      try cache.restore(kept, to: scratch.reader())
    }
    #expect(scratch.read("out/notes") == "more of mine")
    // An incremental build: files that an earlier result has count as the step's own.
    let untouched = try scratch.reader().stamps(at: ["out"])
    let again = try cache.store(
      CacheEntry(.sample("2"), outputs: ["out"]), since: untouched, from: scratch.reader())
    #expect(again.foreign.map(\.path) == ["out/notes"])
    #expect(again.files.map(\.path) == ["out", "out/made"])
    #expect(again.earlier.map(\.path) == ["out/made"] && entry.earlier.isEmpty)
  }

  @Test(
    "X34: nothing that is put back is open to more users than it was",
    arguments: [0o600, 0o640, 0o700, 0o444] as [mode_t])
  func restoredFileIsNoMorePermissiveThanTheOriginal(mode: mode_t) throws {
    let cache = try scratch.cache()
    scratch.write("out/d/secret", "s", mode: mode)
    chmod(scratch.path + "/out/d", 0o700)
    try store(cache, .sample("1"), outputs: ["out"])
    let entry = try #require(cache.entry(of: "build", .sample("1")))
    scratch.remove("out")
    _ = try cache.restore(entry, to: scratch.reader())
    #expect(scratch.mode("out/d/secret") == mode && scratch.mode("out/d") == 0o700)
    chmod(scratch.path + "/out/d/secret", 0o666)
    _ = try cache.restore(entry, to: scratch.reader())
    #expect(scratch.mode("out/d/secret") == mode)
  }

  @Test func restoringLeavesNoOtherFiles() throws {
    let cache = try scratch.cache()
    makeOutputs()
    try store(cache, .sample("1"), outputs: ["out", "one.txt"])
    scratch.write("out/a", "edited")
    _ = try cache.restore(
      try #require(cache.entry(of: "build", .sample("1"))), to: scratch.reader())
    let names = try scratch.reader().tree(at: [scratch.path]).map(\.path)
    #expect(!names.contains { $0.contains(".weft-staged-") })
  }

  @Test func aPathThatWasNotMadeIsNotKept() throws {
    let cache = try scratch.cache()
    #expect(throws: CacheError.noOutput("out")) {
      try store(cache, .sample("1"), outputs: ["out"])
    }
    #expect(cache.entry(of: "build", .sample("1")) == nil)
  }

  @Test func aFIFOIsNotKept() throws {
    let cache = try scratch.cache()
    scratch.write("out/a", "1")
    mkfifo(scratch.path + "/out/fifo", 0o600)
    #expect(throws: CacheError.self) { try store(cache, .sample("1"), outputs: ["out"]) }
    #expect(cache.entry(of: "build", .sample("1")) == nil)
  }

  @Test func valuesReadByExpressionsAreRestored() throws {
    let cache = try scratch.cache()
    let result = CachedResult(
      stdout: [1, 2, 0xFF], stderr: nil,
      written: [CachedOutput(name: "n", json: "{\"é\":[1,null]}")])
    try cache.store(CacheEntry(.sample("1"), result: result), from: scratch.reader())
    #expect(cache.entry(of: "build", .sample("1"))?.result == result)
  }

  @Test func anotherStepOrKeyHasNothing() throws {
    let cache = try scratch.cache()
    try store(cache, .sample("1"), outputs: [])
    #expect(cache.entry(of: "build", .sample("2")) == nil)
    #expect(cache.entry(of: "other", .sample("1")) == nil)
    #expect(entries(of: "build", cache).map(\.key) == [.sample("1")])
  }

  @Test func theListOfInputsIsReadBackForThoseWhoAskWhy() throws {
    let cache = try scratch.cache()
    var key = CacheKey.sample("1")
    key.set(.inputs, [CacheValue("a.c", .file(hash: "12", isExecutable: true))])
    try cache.store(CacheEntry(key), from: scratch.reader())
    #expect(entries(of: "build", cache).first?.key == key)
  }

  private func entries(
    of step: String, _ cache: StepCache, near key: CacheKey = .sample("1"),
    making outputs: [String] = [], isCurrent: Bool = false
  ) -> [CacheEntry] {
    cache.entries(of: step, near: key, making: outputs, isCurrent: isCurrent)
  }

  @Test func entriesAreThoseOfTheSameElementOrOutput() throws {
    let (cache, other) = (try scratch.cache(), try scratch.cache())
    makeOutputs()
    func key(_ element: String, _ command: String) -> CacheKey {
      var key = CacheKey.sample(command)
      key.set(.element, .text(element))
      return key
    }
    try store(cache, key("a", "1"), outputs: ["out"])
    try store(cache, key("b", "2"), outputs: [])
    let keys = { (found: [CacheEntry]) in Set(found.map(\.key.hash)) }
    let (a, b) = (key("a", "1").hash, key("b", "2").hash)
    #expect(keys(entries(of: "build", cache, near: key("a", "9"))) == [a])
    #expect(keys(entries(of: "build", cache, near: key("b", "9"), making: ["out"])) == [a, b])
    #expect(entries(of: "build", cache, near: .sample("1")).isEmpty)
    // Those of another process count if they must.
    try store(other, key("a", "3"), outputs: [])
    #expect(keys(entries(of: "build", cache, near: key("a", "9"))) == [a])
    let current = entries(of: "build", cache, near: key("a", "9"), isCurrent: true)
    #expect(keys(current) == [a, key("a", "3").hash])
  }

  /// Damages each file of the cache in turn: either the right result is restored, or none.
  @Test func damagedEntryIsAMiss() throws {
    let cache = try scratch.cache()
    makeOutputs()
    let result = CachedResult(stdout: Array("text".utf8))
    try cache.store(
      CacheEntry(.sample("1"), outputs: ["out", "one.txt"], result: result), from: scratch.reader())
    let tree = try scratch.reader().tree(at: ["out"])
    let kept = try scratch.reader().tree(at: [".weft", "cache"]).filter {
      if case .file = $0.content { !$0.path.contains("files-1") } else { false }
    }
    #expect(kept.count >= 5)
    for file in kept {
      let content = try FileReading.bytes(
        ofRegularFile: scratch.path + "/" + file.path, limit: 1 << 20)
      for damage in [Array(content.dropLast()), content.map { $0 ^ 1 }, []] {
        scratch.write(file.path, String(decoding: damage, as: UTF8.self), mode: 0o600)
        scratch.remove("out")
        if let entry = cache.entry(of: "build", .sample("1")) {
          do {
            _ = try cache.restore(entry, to: scratch.reader())
            #expect(try scratch.reader().tree(at: ["out"]) == tree, "\(file.path)")
          } catch {
            #expect(try scratch.reader().tree(at: ["out"]).isEmpty, "half of it: \(file.path)")
          }
        }
        scratch.remove("out")
        makeOutputs()
        try cache.store(
          CacheEntry(.sample("1"), outputs: ["out", "one.txt"], result: result),
          from: scratch.reader())
      }
    }
  }

  @Test func cacheStaysWithinItsLimit() throws {
    let limit = 64 << 10
    for round in 0..<40 {
      // A new cache has not looked at the folder yet, like a different process.
      let cache = try scratch.cache(limit: limit)
      scratch.write("out", String(repeating: "\(round)", count: 3000))
      try store(cache, .sample("\(round)"), outputs: ["out"])
      let kept = try scratch.reader().tree(at: [".weft", "cache"]).reduce(0) { $0 + $1.size }
      #expect(kept <= limit, "after \(round)")
    }
    let cache = try scratch.cache(limit: limit)
    #expect(cache.entry(of: "build", .sample("39")) != nil)
  }

  @Test func resultLargerThanTheCacheIsNotStored() throws {
    let cache = try scratch.cache(limit: 4096)
    scratch.write("out", String(repeating: "x", count: 5000))
    #expect(throws: CacheError.tooLarge(bytes: 5000, limit: 4096)) {
      try store(cache, .sample("1"), outputs: ["out"])
    }
  }

  @Test func aSecretIsACodeThatOnlyThisCacheMakes() throws {
    let other = Scratch()
    let one = try scratch.cache().secret("hunter2")
    #expect(try scratch.cache().secret("hunter2") == one)
    #expect(try other.cache().secret("hunter2") != one)
    #expect(scratch.mode(".weft/cache/files-1/secret") == 0o600)
    #expect(scratch.mode(".weft/cache/files-1") == 0o700)
  }

  @Test func twoAtOnceLeaveOneOfBothWhole() async throws {
    makeOutputs()
    try store(try scratch.cache(), .sample("1"), outputs: ["out", "one.txt"])
    let tree = try scratch.reader().tree(at: ["out"])
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { [scratch] in
          for _ in 0..<25 {
            guard let cache = try? scratch.cache(), let reader = try? scratch.reader(),
              let entry = cache.entry(of: "build", .sample("1"))
            else { continue }
            scratch.remove("out/a")
            _ = try? cache.restore(entry, to: reader)
          }
        }
      }
    }
    let cache = try scratch.cache()
    _ = try cache.restore(
      try #require(cache.entry(of: "build", .sample("1"))), to: scratch.reader())
    #expect(try scratch.reader().tree(at: ["out"]) == tree)
  }
}
