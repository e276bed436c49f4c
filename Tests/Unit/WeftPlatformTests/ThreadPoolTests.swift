import Glibc
import Synchronization
import Testing

@testable import WeftPlatform

@Suite struct ThreadPoolTests {
  @Test func everyJobHasAThreadHoweverManyBlock() throws {
    let threads = ThreadPool()
    let begun = Collected<Int>()
    let go = (0..<100).map { _ in Parking() }
    for (number, parking) in go.enumerated() {
      try threads.submit {
        begun.add(number)
        _ = parking.park(atMost: nil)
      }
    }
    #expect(eventually { begun.count == 100 })
    #expect(threads.threadCount == 100)
    for parking in go { parking.unpark() }
  }

  @Test func aParkedThreadTakesTheNextJob() throws {
    let threads = ThreadPool()
    let ids = Collected<pthread_t>()
    for round in 1...20 {
      try threads.submit { ids.add(pthread_self()) }
      #expect(eventually { ids.count == round })
      // The job ends a moment before its thread is parked.
      #expect(eventually { threads.parkedCount == 1 })
    }
    #expect(Set(ids.all).count == 1)
    #expect(threads.threadCount == 1)
  }

  @Test func aChainOfJobsStaysOnItsThread() throws {
    let threads = ThreadPool()
    let ids = Collected<pthread_t>()
    try threads.submit { Self.step(1000, on: threads, ids) }
    #expect(eventually { ids.count == 1000 })
    #expect(Set(ids.all).count == 1)
  }

  private static func step(_ left: Int, on threads: ThreadPool, _ ids: Collected<pthread_t>) {
    if left > 1 { try! threads.submit(onThisThread: true) { step(left - 1, on: threads, ids) } }
    ids.add(pthread_self())
  }

  @Test func onlyOneJobFollowsOnTheThreadAndTheOthersHaveTheirOwn() throws {
    let threads = ThreadPool()
    let first = Collected<pthread_t>()
    let others = Collected<pthread_t>()
    let go = Parking()
    try threads.submit {
      first.add(pthread_self())
      try! threads.submit(onThisThread: true) { first.add(pthread_self()) }
      try! threads.submit(onThisThread: true) { others.add(pthread_self()) }
      // The second job needs no thread that is busy here.
      _ = go.park(atMost: nil)
    }
    #expect(eventually { others.count == 1 })
    #expect(first.count == 1)
    go.unpark()
    #expect(eventually { first.count == 2 })
    #expect(first.all[0] == first.all[1] && first.all[0] != others.all[0])
  }

  @Test func noJobWaitsForAThreadThatIsOccupied() throws {
    let threads = ThreadPool()
    let (first, others) = (Collected<pthread_t>(), Collected<pthread_t>())
    try threads.submit {
      ThreadPool.occupyingThread {
        first.add(pthread_self())
        try! threads.submit(onThisThread: true) { others.add(pthread_self()) }
        // Until the other job has run: on this thread it never would.
        while others.count == 0 { usleep(100) }
      }
      try! threads.submit(onThisThread: true) { first.add(pthread_self()) }
    }
    #expect(eventually { first.count == 2 })
    #expect(first.all[0] == first.all[1] && first.all[0] != others.all[0])
  }

  @Test func fromOutsideThePoolAJobAlwaysHasAThreadOfThePool() throws {
    let (one, other) = (ThreadPool(), ThreadPool())
    let done = Collected<Bool>()
    try one.submit(onThisThread: true) {
      let here = pthread_self()
      try! other.submit(onThisThread: true) { done.add(pthread_self() != here) }
      while done.count == 0 { usleep(100) }
    }
    #expect(eventually { done.count == 1 })
    #expect(done.all == [true])
  }

  @Test func threadsEndWhenThePoolIsClosedOrIdle() throws {
    let closed = ThreadPool()
    let idle = ThreadPool(idleLimit: .milliseconds(1))
    let done = Collected<Bool>()
    for threads in [closed, idle] {
      for _ in 0..<10 { try threads.submit { done.add(true) } }
    }
    #expect(eventually { done.count == 20 })
    closed.close()
    #expect(eventually { closed.threadCount == 0 })
    #expect(eventually { idle.threadCount == 0 })
    #expect(throws: ThreadError.poolIsClosed) { try closed.submit {} }
    try idle.submit { done.add(true) }
    #expect(eventually { done.count == 21 })
  }

  @Test func releasingThePoolLetsItsRunningJobsFinish() throws {
    let done = Collected<Bool>()
    let go = Parking()
    do {
      let threads = ThreadPool()
      try threads.submit {
        _ = go.park(atMost: nil)
        done.add(true)
      }
    }
    go.unpark()
    #expect(eventually { done.count == 1 })
  }

  @Test("a thread that the system does not make is an error and no crash")
  func noThread() {
    let threads = ThreadPool(stackBytes: 1 << 46)
    let error = #expect(throws: ThreadError.self) { try threads.submit {} }
    #expect(error?.message.contains("cannot start another thread") == true)
    #expect(threads.threadCount == 0)
  }

  @Test func jobIsReleasedBeforeItsThreadParks() throws {
    final class Held: Sendable {}
    let threads = ThreadPool()
    weak var held: Held?
    let ran = Collected<Bool>()
    try {
      let object = Held()
      held = object
      try threads.submit { [object] in
        withExtendedLifetime(object) { ran.add(true) }
      }
    }()
    #expect(eventually { ran.count == 1 && threads.parkedCount == 1 })
    #expect(held == nil)
  }
}
