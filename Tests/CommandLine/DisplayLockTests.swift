import Synchronization
import Testing
import WeftPlatform

@testable import WeftCLI

@Suite struct DisplayLockTests {
  /// The entries of a log, in order.
  private final class Diary: Sendable {
    private let entries = Mutex<[String]>([])
    var all: [String] { entries.withLock { $0 } }
    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
  }

  /// Waits like the thread of a display.
  private static func waitUntilWanted(_ lock: DisplayLock) {
    while !lock.isWanted { lock.wakeup.wait() }
  }

  @Test func lockIsFreeWithoutADisplay() {
    let lock = DisplayLock()
    #expect(lock.ask(atMost: nil))
    lock.release()
    lock.open()
    lock.close()
    #expect(lock.ask(atMost: nil))
    lock.release()
  }

  @Test func requesterWaitsForTheDisplayToWithdraw() throws {
    let (lock, diary, threads, over) = (DisplayLock(), Diary(), ThreadPool(), Wakeup())
    lock.open()
    try threads.submit {
      let isQuiet = lock.ask(atMost: nil)
      diary.add("asked: \(isQuiet)")
      // Logged before the release, so that the order is certain.
      diary.add("released")
      lock.release()
      over.wake()
    }
    DisplayLockTests.waitUntilWanted(lock)
    diary.add("withdrawn")
    lock.yield()
    diary.add("drawn again")
    over.wait()
    #expect(diary.all == ["withdrawn", "asked: true", "released", "drawn again"])
    #expect(!lock.isWanted)
  }

  @Test func theDisplayComesBackOnlyWhenEverybodyHasReleasedTheScreen() throws {
    let (lock, diary, threads) = (DisplayLock(), Diary(), ThreadPool())
    lock.open()
    try threads.submit {
      _ = lock.ask(atMost: nil)
      // The display has already withdrawn, so the program does not wait for a second answer.
      _ = lock.ask(atMost: nil)
      lock.release()
      diary.add("first release")
      diary.add("second release")
      lock.release()
    }
    DisplayLockTests.waitUntilWanted(lock)
    lock.yield()
    diary.add("drawn again")
    #expect(diary.all == ["first release", "second release", "drawn again"])
  }

  @Test func aStopEndsTheWaitForADisplayThatDoesNotAnswer() {
    let (lock, stop) = (DisplayLock(), StopSwitch())
    lock.open()
    stop.request(.graceful)
    #expect(!lock.ask(atMost: nil, stop: stop))
    lock.release()
    #expect(!lock.isWanted)
  }

  @Test func aDisplayThatDoesNotAnswerIsNotWaitedForLongerThanTheLimit() {
    let lock = DisplayLock()
    lock.open()
    #expect(!lock.ask(atMost: .milliseconds(1)))
    lock.release()
  }

  @Test func waitingRequesterContinuesWhenTheDisplayEnds() throws {
    let (lock, diary, threads, over) = (DisplayLock(), Diary(), ThreadPool(), Wakeup())
    lock.open()
    try threads.submit {
      diary.add("asked: \(lock.ask(atMost: nil))")
      over.wake()
    }
    DisplayLockTests.waitUntilWanted(lock)
    lock.close()
    over.wait()
    #expect(diary.all == ["asked: true"])
  }
}
