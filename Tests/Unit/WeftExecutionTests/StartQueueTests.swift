import Synchronization
import Testing
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct SpawnRetryPolicyTests {
  @Test func pausesDoubleUpToTheLongestAndEndWithTheTotal() {
    var patience = SpawnRetryPolicy()
    var pauses: [Duration] = []
    while let pause = patience.nextPause(othersRun: false) { pauses.append(pause) }
    let doubling = [50, 100, 200, 400, 800, 1600, 3200].map { Duration.milliseconds($0) }
    #expect(pauses.prefix(7) == doubling[...])
    #expect(pauses.dropFirst(7).dropLast().allSatisfy { $0 == .seconds(5) })
    #expect(pauses.reduce(.zero, +) == .seconds(60))
  }

  @Test func timeInWhichSomethingRunsIsNotCounted() {
    var patience = SpawnRetryPolicy()
    for _ in 0..<1000 { #expect(patience.nextPause(othersRun: true) != nil) }
    #expect(patience.nextPause(othersRun: false) == .seconds(5))
    var rest = Duration.seconds(5)
    while let pause = patience.nextPause(othersRun: false) { rest += pause }
    #expect(rest == .seconds(60))
    #expect(patience.nextPause(othersRun: true) != nil)
  }
}

@Suite struct StartQueueTests {
  /// A system with room for some programs, whose threads and time the test owns.
  private final class Scene: Sendable {
    enum Event: Hashable, Sendable {
      case started(Int)
      case waits(Int)
      case refused(Int)
      case stopped(Int)
    }

    let time = ManualTime()
    let events = Mutex<[Event]>([])
    /// The programs whose start the queue has counted.
    let counted = Mutex<Set<Int>>([])
    let capacity: Mutex<Int>
    let threads = ThreadPool()
    let happened = Wakeup()
    let queue: StartQueue

    init(capacity: Int, waits: Bool = true) {
      self.capacity = Mutex(capacity)
      queue = StartQueue(threads, time: waits ? time : nil)
    }

    func submit(_ number: Int, stop: StopSwitch = StopSwitch(), until end: Wakeup? = nil) {
      queue.submit(
        StartQueue.Request(
          stop: stop, warn: { [self] _ in note(.waits(number)) },
          refuse: { [self] refusal in
            if case .stopped = refusal { note(.stopped(number)) } else { note(.refused(number)) }
          },
          job: { [self] in start(number, until: end) }))
    }

    private func start(_ number: Int, until end: Wakeup?) -> ResourceExhaustion? {
      let hasRoom = capacity.withLock { capacity in
        defer { capacity -= capacity > 0 ? 1 : 0 }
        return capacity > 0
      }
      guard hasRoom else { return ResourceExhaustion(.notStarted(.resources(.wouldBlock))) }
      note(.started(number))
      queue.programStarted()
      counted.withLock { _ = $0.insert(number) }
      happened.wake()
      end?.wait()
      queue.programEnded()
      return nil
    }

    private func note(_ event: Event) {
      events.withLock { $0.append(event) }
      happened.wake()
    }

    /// Waits for this many events in all, and returns them.
    func first(_ count: Int) -> [Event] {
      while true {
        let events = events.withLock { $0 }
        if events.count >= count { return events }
        happened.wait()
      }
    }

    /// Waits until the queue has counted a start; until then, it may still make the queue try the next one.
    func waitUntilCounted(_ number: Int) {
      while counted.withLock({ !$0.contains(number) }) { happened.wait() }
    }

    /// Waits until the timer for the next try is set, and fires it.
    func ring() {
      waitForTimer()
      letTimePass()
    }

    /// Waits for the timer; until then, the waiting start may not be in the queue yet.
    func waitForTimer() {
      while time.scheduledCount == 0 { happened.wait(atMost: .milliseconds(1)) }
    }

    func letTimePass() {
      if time.scheduledCount > 0 { time.advance(by: .seconds(5)) }
      happened.wait(atMost: .milliseconds(1))
    }
  }

  @Test func anAttemptForWhichThereIsRoomIsStarted() {
    let scene = Scene(capacity: 1)
    scene.submit(1)
    #expect(scene.first(1) == [.started(1)])
    #expect(scene.time.scheduledCount == 0)
  }

  @Test func waitingStartIsRetriedBeforeTheNext() {
    let scene = Scene(capacity: 0)
    scene.submit(1)
    #expect(scene.first(1) == [.waits(1)])
    scene.waitForTimer()
    scene.submit(2)
    scene.submit(3)
    scene.capacity.withLock { $0 = 3 }
    scene.ring()
    let events = scene.first(4)
    #expect(Set(events.dropFirst()) == [.started(1), .started(2), .started(3)])
    #expect(events[1] == .started(1))
  }

  @Test func theEndOfAProgramLetsTheNextTry() {
    let scene = Scene(capacity: 1)
    let end = Wakeup()
    scene.submit(1, until: end)
    #expect(scene.first(1) == [.started(1)])
    scene.waitUntilCounted(1)
    scene.submit(2)
    #expect(scene.first(2) == [.started(1), .waits(2)])
    scene.waitForTimer()
    scene.capacity.withLock { $0 = 1 }
    end.wake()
    #expect(scene.first(3).last == .started(2), "without the timer, which has not rung")
  }

  @Test func aStopEndsTheWaitAtOnce() {
    let scene = Scene(capacity: 0)
    let (first, second) = (StopSwitch(), StopSwitch())
    scene.submit(1, stop: first)
    #expect(scene.first(1) == [.waits(1)])
    scene.waitForTimer()
    scene.submit(2, stop: second)
    second.request(.graceful)
    #expect(scene.first(2) == [.waits(1), .stopped(2)])
    first.request(.now)
    #expect(scene.first(3) == [.waits(1), .stopped(2), .stopped(1)])
  }

  @Test("P19: when the total is over in which nothing ran, all that wait have failed")
  func patienceEnds() {
    let scene = Scene(capacity: 0)
    scene.submit(1)
    #expect(scene.first(1) == [.waits(1)])
    scene.waitForTimer()
    scene.submit(2)
    while scene.events.withLock({ !$0.contains(.refused(2)) }) { scene.letTimePass() }
    #expect(Set(scene.first(3).suffix(2)) == [.refused(1), .refused(2)])
    #expect(scene.time.now >= .seconds(60))
  }

  @Test func startIsRefusedWithoutTimers() {
    let scene = Scene(capacity: 0, waits: false)
    scene.submit(1)
    #expect(scene.first(1) == [.refused(1)])
  }

  @Test func aClosedPoolIsNotWaitedFor() {
    let scene = Scene(capacity: 1)
    scene.threads.close()
    scene.submit(1)
    #expect(scene.first(1) == [.refused(1)])
  }
}
