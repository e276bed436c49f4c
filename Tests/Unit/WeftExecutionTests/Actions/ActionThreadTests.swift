import Synchronization
import TestSupport
import Testing

@testable import WeftEvents
@testable import WeftExecution

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The thread of an action's task.
@Suite(.hangLimit) struct ActionThreadTests {
  @Test func aTaskAndItsChildrenRunOnTheThreadThatRunsThem() {
    let seen = Mutex<[UInt]>([])
    let note: @Sendable () -> Void = { seen.withLock { $0.append(thisThread()) } }
    let action: @Sendable () async -> Void = {
      note()
      await withTaskGroup { group in
        for _ in 0..<3 {
          group.addTask {
            note()
            await Task.yield()
            note()
          }
        }
      }
      async let one: Void = note()
      await one
      await Elsewhere().visit()
      note()
    }
    ActionThread().run(action, began: { _ in note() })
    #expect(seen.withLock { $0 } == Array(repeating: thisThread(), count: 10))
  }

  @Test func aTaskThatIsCancelledBeforeItRunsKnowsThat() {
    let wasCancelled = Mutex(false)
    ActionThread().run(
      { wasCancelled.withLock { $0 = Task.isCancelled } }, began: { $0.cancel() })
    #expect(wasCancelled.withLock { $0 })
  }

  @Test func detachedTaskIsNotAwaited() async {
    let (over, end) = (Moment(), Moment())
    let action: @Sendable () async -> Void = {
      _ = Task.detached {
        await over.hasCome()
        end.comes()
      }
    }
    ActionThread().run(action, began: { _ in })
    over.comes()
    await end.hasCome()
  }
}

/// An actor whose methods run on the cooperative pool, or wherever the caller's task prefers.
private actor Elsewhere {
  func visit() {}
}

private func thisThread() -> UInt {
  #if canImport(Glibc)
    UInt(pthread_self())
  #else
    UInt(bitPattern: pthread_self())
  #endif
}
