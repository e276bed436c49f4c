import Synchronization
import Testing
import WeftPlatform

@testable import WeftCLI

@Suite struct ScreenTests {
  /// The entries of a log, in order.
  private final class Diary: Sendable {
    private let entries = Mutex<[String]>([])
    var all: [String] { entries.withLock { $0 } }
    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
  }

  /// Waits like the thread of a display.
  private static func waitUntilWanted(_ screen: Screen) {
    while !screen.isWanted { screen.wakeup.wait() }
  }

  @Test func withoutADisplayTheScreenIsFree() {
    let screen = Screen()
    #expect(screen.ask(atMost: nil))
    screen.release()
    screen.open()
    screen.close()
    #expect(screen.ask(atMost: nil))
    screen.release()
  }

  @Test func whoAsksWaitsForTheDisplayToWithdrawAndTheDisplayUntilTheScreenIsFree() throws {
    let (screen, diary, threads, over) = (Screen(), Diary(), BlockingThreads(), Wakeup())
    screen.open()
    try threads.submit {
      let isQuiet = screen.ask(atMost: nil)
      diary.add("asked: \(isQuiet)")
      // Logged before the release, so that the order is certain.
      diary.add("released")
      screen.release()
      over.wake()
    }
    ScreenTests.waitUntilWanted(screen)
    diary.add("withdrawn")
    screen.yield()
    diary.add("drawn again")
    over.wait()
    #expect(diary.all == ["withdrawn", "asked: true", "released", "drawn again"])
    #expect(!screen.isWanted)
  }

  @Test func theDisplayComesBackOnlyWhenEverybodyHasReleasedTheScreen() throws {
    let (screen, diary, threads) = (Screen(), Diary(), BlockingThreads())
    screen.open()
    try threads.submit {
      _ = screen.ask(atMost: nil)
      // The display has already withdrawn, so the program does not wait for a second answer.
      _ = screen.ask(atMost: nil)
      screen.release()
      diary.add("first release")
      diary.add("second release")
      screen.release()
    }
    ScreenTests.waitUntilWanted(screen)
    screen.yield()
    diary.add("drawn again")
    #expect(diary.all == ["first release", "second release", "drawn again"])
  }

  @Test func aStopEndsTheWaitForADisplayThatDoesNotAnswer() {
    let (screen, stop) = (Screen(), StopSwitch())
    screen.open()
    stop.request(.graceful)
    #expect(!screen.ask(atMost: nil, stop: stop))
    screen.release()
    #expect(!screen.isWanted)
  }

  @Test func aDisplayThatDoesNotAnswerIsNotWaitedForLongerThanTheLimit() {
    let screen = Screen()
    screen.open()
    #expect(!screen.ask(atMost: .milliseconds(1)))
    screen.release()
  }

  @Test func whoWaitsIsAnsweredWhenTheDisplayEnds() throws {
    let (screen, diary, threads, over) = (Screen(), Diary(), BlockingThreads(), Wakeup())
    screen.open()
    try threads.submit {
      diary.add("asked: \(screen.ask(atMost: nil))")
      over.wake()
    }
    ScreenTests.waitUntilWanted(screen)
    screen.close()
    over.wait()
    #expect(diary.all == ["asked: true"])
  }
}
