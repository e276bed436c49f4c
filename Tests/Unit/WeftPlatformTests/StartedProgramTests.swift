import Testing
import WeftPlatform

@Suite struct StartedProgramTests {
  /// Among this many programs, some start at the edge between two clock ticks.
  @Test func identityMatchesTheSystems() throws {
    for _ in 0..<200 {
      var (reported, asked): (ProcessIdentity?, ProcessIdentity?) = (nil, nil)
      let program = ChildProgram(["/bin/sh", "-c", "read x"], environment: .inherited())
      let end = try program.run(
        stop: StopSwitch(),
        started: {
          reported = $0.identity
          asked = ProcessStatus(of: $0.id)?.identity
        }, output: { _, _ in })
      #expect(end.status == .exited(code: 1))
      #expect(reported != nil && reported == asked)
    }
  }
}
