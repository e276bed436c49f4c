import Testing

@testable import WeftPlatform

@Suite struct ChildProgramTests {
  @Test func outputAndErrorsArriveApartAndExact() throws {
    let ran = try run(sh: "printf out; printf err >&2; exit 3")
    #expect(ran.text == "out")
    #expect(ran.errors == Array("err".utf8))
    #expect(ran.end.status == .exited(code: 3))
    #expect(ran.end.stopped == nil)
    #expect(!ran.end.neededKill && !ran.end.outputWasHeld && ran.end.leftovers.isEmpty)
  }

  @Test func mergedOutputKeepsItsOrder() throws {
    let ran = try run(sh: "printf a; printf b >&2; printf c", configure: { $0.mergesOutput = true })
    #expect(ran.text == "abc")
    #expect(ran.errors.isEmpty)
  }

  @Test func signalIsReportedByName() throws {
    #expect(try run(sh: "kill -KILL $$").end.status == .killed(by: .kill))
  }
}
