import Testing

@testable import WeftPlatform

@Suite struct ProcessStatusTests {
  /// A line of /proc/PID/stat, up to the start time and a little further.
  private static func line(_ start: String, threads: Int = 1) -> String {
    start + " 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 \(threads) 0 4242 1000 20"
  }

  private static func status(_ command: String, parent: Int32, _ group: Int32, _ session: Int32)
    -> ProcessStatus
  {
    ProcessStatus(
      identity: ProcessIdentity(id: 7, startTicks: 4242), command: command, parent: parent,
      group: group, session: session)
  }

  @Test(arguments: [
    (line("7 (sh) S 1 7 7"), status("sh", parent: 1, 7, 7)),
    (line("7 (a) b) (c) R 3 4 5"), status("a) b) (c", parent: 3, 4, 5)),
    (line("7 () R 0 0 0"), status("", parent: 0, 0, 0)),
    (line("7 sh S 1 7 7"), nil), (line("7 (sh) S 1 x 7"), nil), ("7 (sh) S 1 7 7 0", nil),
    ("", nil),
  ])
  func statusLinesAreRead(line: String, status: ProcessStatus?) {
    #expect(read(line) == status)
  }

  @Test func zombiesAreNotAlive() {
    #expect(read(Self.line("7 (sh) Z 1 7 7"))?.isAlive == false)
    #expect(read(Self.line("7 (sh) D 1 7 7"))?.isAlive == true)
  }

  @Test func aProcessWhoseFirstThreadHasEndedIsAliveWhileOthersRun() {
    #expect(read(Self.line("7 (sh) Z 1 7 7", threads: 3))?.isAlive == true)
  }

  private func read(_ line: String) -> ProcessStatus? {
    Array(line.utf8).withUnsafeBytes { ProcessStatus(line: $0) }
  }
}
