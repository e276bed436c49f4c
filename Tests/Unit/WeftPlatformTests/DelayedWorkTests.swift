import Synchronization
import Testing
import WeftPlatform

@Suite struct DelayedWorkTests {
  /// Work with a delay of an hour, and the number of times it was done.
  private final class Work: Sendable {
    let count = Mutex(0)
    let done = Wakeup()

    func made() -> DelayedWork {
      DelayedWork(after: .seconds(3600), thread: "weft-test") { [self] in
        count.withLock { $0 += 1 }
        done.wake()
      }
    }
  }

  @Test(arguments: [0, 1, 5]) func urgentWorkDoesNotWait(earlier: Int) {
    let work = Work()
    let delayed = work.made()
    for _ in 0..<earlier { delayed.request() }
    delayed.request(atOnce: true)
    work.done.wait()
    delayed.end()
    #expect(work.count.withLock { $0 } == 1)
  }

  @Test func workRequestedAgainRunsAgain() {
    let work = Work()
    let delayed = work.made()
    for _ in 0..<3 {
      delayed.request(atOnce: true)
      work.done.wait()
    }
    delayed.end()
    #expect(work.count.withLock { $0 } == 3)
  }

  @Test func endedWorkDoesNothing() {
    let work = Work()
    let delayed = work.made()
    delayed.end()
    delayed.request(atOnce: true)
    delayed.request()
    #expect(work.count.withLock { $0 } == 0)
  }
}
