import Synchronization
import Testing

@testable import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct SignallingTests {
  private static let process = ProcessStatus(
    identity: ProcessIdentity(id: 4242, startTicks: 7), command: "p", parent: 1, group: 4242,
    session: 4242)

  /// The calls that were made, in words.
  private func calls(
    hold: Int32, held: Int32 = 0, isSame: Bool = true
  ) -> [String] {
    let made = Mutex<[String]>([])
    let calls = SignalCalls(
      hold: { _ in hold },
      signalHeld: { descriptor, _ in
        made.withLock { $0.append("held \(descriptor)") }
        return held
      },
      releaseHold: { descriptor in made.withLock { $0.append("closed \(descriptor)") } },
      signal: { id, _ in made.withLock { $0.append("id \(id)") } })
    Self.process.send(.terminate, if: isSame, by: calls)
    return made.withLock { $0 }
  }

  @Test("X33: a process that has gone is not signalled by its id, which may be another's")
  func goneProcesses() {
    #expect(calls(hold: 9) == ["held 9", "closed 9"])
    #expect(calls(hold: 9, held: -ESRCH) == ["held 9", "closed 9"])
    #expect(calls(hold: 9, held: -EPERM) == ["held 9", "closed 9"])
    #expect(calls(hold: -ESRCH) == [])
    #expect(calls(hold: 9, isSame: false) == ["closed 9"])
  }

  @Test(
    "X33: the id is used only where no descriptor can be had", arguments: [ENOSYS, EMFILE, ENFILE])
  func signallingWorksWithoutProcessDescriptors(error: Int32) {
    #expect(calls(hold: -error) == ["id 4242"])
    #expect(calls(hold: -error, isSame: false) == [])
    if error == ENOSYS {
      #expect(calls(hold: 9, held: -error) == ["held 9", "id 4242", "closed 9"])
    }
  }

  @Test("X45: a process that changes while it is being ended is named once")
  func namedOnce() throws {
    let stop = StopSwitch()
    var ended: OrphansEnd?
    _ = try run(["/bin/sleep", "1000"], stop: stop) { program in
      program.stopPolicy.grace = .zero
    } started: { started in
      let status = ProcessStatus(of: started.id)
      // The parent of an orphan changes while it is being ended.
      var looks = 0
      ended = OrphanTermination(policy: StopPolicy(grace: .milliseconds(10)), stop: StopSwitch()) {
        looks += 1
        guard var seen = ProcessStatus(of: started.id), seen.isAlive else { return [] }
        if looks > 1 { seen.parent = 1 }
        #expect(seen.identity == status?.identity)
        return [seen]
      }.end()
      stop.request(.now)
    }
    #expect(ended?.ended.count == 1)
    #expect(ended?.orphans.isEmpty == true)
  }

  @Test("X08: a process that the first search misses is asked to end, too")
  func aProcessThatStartsDuringASearchIsAskedToEnd() throws {
    var second: ProgramEnd?
    let first = try run(["/bin/sleep", "1000"]) { _ in
    } started: { first in
      second = try? run(["/bin/sleep", "1000"]) { _ in
      } started: { second in
        var looks = 0
        _ = OrphanTermination(policy: StopPolicy(grace: .seconds(600)), stop: StopSwitch()) {
          looks += 1
          let found = looks == 1 ? [first.id] : [first.id, second.id]
          return found.compactMap { ProcessStatus(of: $0) }.filter(\.isAlive)
        }.end()
      }.end
    }
    #expect(first.end.status == .killed(by: .terminate))
    #expect(second?.status == .killed(by: .terminate))
  }
}
