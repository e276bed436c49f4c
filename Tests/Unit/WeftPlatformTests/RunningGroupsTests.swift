import CWeftPlatform
import Glibc
import Testing

@testable import WeftPlatform

@Suite struct RunningGroupsTests {
  /// A child in a process group of its own that waits to be killed.
  private final class Sleeper: Sendable {
    let process: Int32

    init() {
      var process: Int32 = 0
      var attributes = posix_spawnattr_t()
      posix_spawnattr_init(&attributes)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
      defer { posix_spawnattr_destroy(&attributes) }
      var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("1000"), nil]
      let failed = posix_spawnp(&process, "sleep", nil, &attributes, &arguments, environ)
      for argument in arguments { free(argument) }
      precondition(failed == 0, "no sleep: \(SystemError(number: failed))")
      self.process = process
    }

    deinit {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
    }

    var stands: Bool { weft_stopped_by(process) == SIGSTOP }
  }

  @Test func aPauseStopsEveryGroupAndItsEndContinuesThem() throws {
    let (groups, sleepers) = (RunningGroups(), [Sleeper(), Sleeper()])
    for sleeper in sleepers { try groups.admit { ((), sleeper.process) } }
    groups.pause()
    #expect(eventually { sleepers.allSatisfy(\.stands) })
    groups.resume()
    #expect(sleepers.allSatisfy { !$0.stands })
  }

  @Test func onlyWhatThePauseHasStoppedIsContinued() throws {
    let (groups, sleeper) = (RunningGroups(), Sleeper())
    try groups.admit { ((), sleeper.process) }
    kill(-sleeper.process, SIGSTOP)
    #expect(eventually { sleeper.stands })
    groups.pause()
    groups.resume()
    #expect(sleeper.stands)
  }

  @Test func reapedGroupIsNotSignalled() throws {
    let (groups, sleeper) = (RunningGroups(), Sleeper())
    try groups.admit { ((), sleeper.process) }
    groups.remove(sleeper.process)
    groups.pause()
    kill(-sleeper.process, SIGSTOP)
    #expect(eventually { sleeper.stands })
    // It remains stopped, because this pause did not stop it.
    groups.resume()
    #expect(sleeper.stands)
  }

  @Test func aPauseWaitsForAStartThatIsUnderWayAndStopsWhatItStarts() throws {
    let (groups, sleeper) = (RunningGroups(), Sleeper())
    let (isStarting, mayFinish, isPaused) = (Wakeup(), Wakeup(), Wakeup())
    try Thread.start(name: "start", stackBytes: 512 * 1024) {
      try? groups.admit {
        isStarting.wake()
        mayFinish.wait()
        return ((), sleeper.process)
      }
    }
    isStarting.wait()
    try Thread.start(name: "pause", stackBytes: 512 * 1024) {
      mayFinish.wake()
      groups.pause()
      isPaused.wake()
    }
    isPaused.wait()
    #expect(eventually { sleeper.stands })
  }

  @Test func noProgramStartsDuringAPause() throws {
    let groups = RunningGroups()
    let events = Collected<String>()
    let over = Wakeup()
    groups.pause()
    try Thread.start(name: "start", stackBytes: 512 * 1024) {
      events.add("asked")
      try? groups.admit {
        events.add("started")
        return ((), nil)
      }
      over.wake()
    }
    #expect(eventually { events.count == 1 })
    events.add("resumed")
    groups.resume()
    over.wait()
    #expect(events.all == ["asked", "resumed", "started"])
  }
}
