import Synchronization
import TestSupport
import Testing
import WeftDefinition
import WeftEvents
import WeftPlatform

@testable import WeftRecord

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files of `concurrency` keys.
@Suite(.hangLimit) struct ConcurrencyKeyTests {
  private let scratch: ScratchFolder
  private static let farFuture = WallTime(nanoseconds: .max)

  init() throws { scratch = try ScratchFolder() }

  private func take(_ number: Int, _ policy: Concurrency.Policy = .wait) throws -> HeldKey? {
    let run = RunID("20260101-000000-\(String(0x100000 + number, radix: 16))")
    let turn = ConcurrencyTurn(
      Concurrency(key: "key", policy: policy), of: run, in: .directory(try scratch.state()))
    guard case .begins(let key) = try turn.wait() else { return nil }
    return key
  }

  private var files: [String] {
    (try? PrivateDirectory.at("\(scratch.path)/.weft/concurrency", makes: false).names()) ?? []
  }

  @Test func aHolderRemovesItsFile() throws {
    let key = try #require(try take(1))
    #expect(files.count == 1)
    key.release()
    #expect(files.isEmpty)
    let next = try #require(try take(2))
    // A second call does not remove the file of the next holder.
    key.release()
    #expect(files.count == 1)
    #expect(throws: RunStoreError.self) { try take(3, .refuse) }
    next.release()
  }

  @Test func cleaningSparesHeldAndYoungFiles() throws {
    let state = try scratch.state()
    let key = try #require(try take(1, .cancelPrevious))
    state.removeUnusedKeys(now: ConcurrencyKeyTests.farFuture)
    #expect(files.count == 1, "of two files, the held one is left")
    key.release()
    try #require(try take(2, .cancelPrevious)).release()
    state.removeUnusedKeys(now: WallTime(nanoseconds: WallClock.now.nanoseconds))
    #expect(files.count == 1, "the latest run is known as long as others may wait")
    state.removeUnusedKeys(now: ConcurrencyKeyTests.farFuture)
    #expect(files.isEmpty)
  }

  private final class Counts: Sendable {
    let holders = Atomic(0)
    let takings = Atomic(0)
    let left = Atomic(4)
  }

  @Test func aKeyHasOneHolderWhileFilesAreRemoved() async throws {
    let state = try scratch.state()
    let counts = Counts()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...4 {
        group.addTask {
          defer { counts.left.subtract(1, ordering: .sequentiallyConsistent) }
          for round in 0..<300 {
            let policy = round.isMultiple(of: 2) ? Concurrency.Policy.wait : .cancelPrevious
            guard let key = try taken(number, policy, in: state) else { continue }
            #expect(counts.holders.add(1, ordering: .sequentiallyConsistent).newValue == 1)
            counts.takings.add(1, ordering: .sequentiallyConsistent)
            // Lets others try meanwhile.
            for _ in 0..<20 { sched_yield() }
            counts.holders.subtract(1, ordering: .sequentiallyConsistent)
            key.release()
          }
        }
      }
      group.addTask {
        while counts.left.load(ordering: .sequentiallyConsistent) > 0 {
          state.removeUnusedKeys(now: ConcurrencyKeyTests.farFuture)
        }
      }
      try await group.waitForAll()
    }
    #expect(counts.takings.load(ordering: .sequentiallyConsistent) >= 500)
    state.removeUnusedKeys(now: ConcurrencyKeyTests.farFuture)
    #expect(files.isEmpty)
  }

  /// Takes the key without a pause between two looks; `nil` if another run has superseded this one.
  private func taken(
    _ number: Int, _ policy: Concurrency.Policy, in state: StateDirectory
  ) throws -> HeldKey? {
    let run = RunID("20260101-000000-\(String(0x100000 + number, radix: 16))")
    var request = HeldKey.Request(by: run, replacesOthers: policy == .cancelPrevious)
    while true {
      switch try HeldKey.take("key", for: &request, in: .directory(state)) {
      case .taken(let key): return key
      case .superseded: return nil
      case .held, .busy: continue
      }
    }
  }
}
