import Glibc
import Testing

@testable import WeftPlatform

/// What thousands of starts leave in this process. With `WEFT_LONG=1` there are as many as it takes to see
/// a hundred bytes each; then the suite has to run alone: `swift test --filter LeakTests`. Otherwise
/// other tests open, start and allocate at the same time, and only a loss at every start would be seen.
@Suite(.serialized) struct LeakTests {
  private static let isLong = getenv("WEFT_LONG") != nil

  /// What this process holds.
  private struct Holdings {
    var descriptors: Int
    var children: Int
    var residentBytes: Int

    init() throws {
      let numbers = try run(["ls", "/proc/\(getpid())/fd"]).text.split(separator: "\n")
      descriptors = numbers.count
      children = ProcessTable.shared.walk().processes.count { $0.parent == getpid() }
      let pages = try run(["cat", "/proc/\(getpid())/statm"]).text.split(separator: " ")[1]
      residentBytes = Int(pages)! * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
  }

  /// Two threads do `work` often enough, and then what they hold is compared.
  private static func expectNothingIsLeft(
    by count: Int, _ work: @escaping @Sendable () -> Void
  ) throws {
    let threads = BlockingThreads()
    defer { threads.close() }
    func go(_ count: Int) throws {
      let done = Collected<Int>()
      for _ in 0..<2 {
        try threads.submit {
          for _ in 0..<(count / 2) { work() }
          done.add(count / 2)
        }
      }
      #expect(eventually(within: .seconds(600)) { done.count == 2 })
    }
    // Buffers, threads and the allocator's reserves are made once.
    try go(isLong ? 2_000 : 100)
    let before = try Holdings()
    try go(count)
    let after = try Holdings()
    #expect(after.descriptors <= before.descriptors + (isLong ? 4 : count / 4))
    #expect(after.children <= before.children + (isLong ? 0 : count / 4))
    if isLong { #expect(after.residentBytes <= before.residentBytes + count * 100) }
  }

  @Test("starts by the thousand leave no descriptor, zombie or memory behind")
  func starts() throws {
    try Self.expectNothingIsLeft(by: Self.isLong ? 20_000 : 1_000) {
      do {
        let ran = try run(["/bin/echo", "hello"])
        #expect(ran.text == "hello\n" && ran.end.exited(with: 0), "\(ran)")
      } catch {
        Issue.record("not started: \(error)")
      }
    }
  }

  @Test(
    "P14: failed starts by the hundred leave no descriptor, zombie or memory behind",
    arguments: [["/nope"], ["/etc/passwd"], ["/bin/true", String(repeating: "x", count: 1 << 17)]])
  func failedStarts(arguments: [String]) throws {
    try Self.expectNothingIsLeft(by: Self.isLong ? 2_000 : 500) {
      #expect(refusal(arguments) { $0.input = .bytes([1]) } != nil)
    }
  }
}
