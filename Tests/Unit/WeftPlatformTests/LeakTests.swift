import Glibc
import TestSupport
import Testing

@testable import WeftPlatform

/// Resources that thousands of spawns leave in a process.
///
/// Each test measures a whole process, so it runs in a process of its own: the tests beside it open, start and
/// allocate at the same time. With `WEFT_LONG=1`, there are enough spawns to detect a hundred bytes each.
@Suite struct LeakTests {
  @Test("starts by the hundred leave no descriptor, zombie or memory behind")
  func manyStartsLeakNothing() async {
    await #expect(processExitsWith: .success) {
      try Holdings.expectNothingIsLeft(by: isLong ? 20_000 : 300) {
        do {
          let ran = try run(["/bin/echo", "hello"])
          #expect(ran.text == "hello\n" && ran.end.exited(with: 0), "\(ran)")
        } catch {
          Issue.record("not started: \(error)")
        }
      }
    }
  }

  @Test(
    "P14: failed starts by the hundred leave no descriptor, zombie or memory behind",
    arguments: [["/nope"], ["/etc/passwd"], ["/bin/true", String(repeating: "x", count: 1 << 17)]])
  func failedStarts(arguments: [String]) async {
    await #expect(processExitsWith: .success) { [arguments] in
      try Holdings.expectNothingIsLeft(by: isLong ? 2_000 : 200) {
        #expect(refusal(arguments) { $0.input = .bytes([1]) } != nil)
      }
    }
  }
}

/// The resources of this process.
private struct Holdings {
  private var descriptors: Int
  private var children: Int
  private var residentBytes: Int

  private init() throws {
    let numbers = try run(["ls", "/proc/\(getpid())/fd"]).text.split(separator: "\n")
    descriptors = numbers.count
    children = ProcessTable.shared.walk().processes.count { $0.parent == getpid() }
    let pages = try run(["cat", "/proc/\(getpid())/statm"]).text.split(separator: " ")[1]
    residentBytes = Int(pages)! * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  /// Repeats `work` on two threads and compares the resources before and after.
  static func expectNothingIsLeft(
    by count: Int, _ work: @escaping @Sendable () -> Void
  ) throws {
    let threads = ThreadPool()
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
    try go(isLong ? 2_000 : 50)
    let before = try Holdings()
    try go(count)
    let after = try Holdings()
    // One of the two threads may have been too late for its share of the first round; it keeps descriptors to be woken
    // by.
    #expect(after.descriptors <= before.descriptors + 4)
    #expect(after.children <= before.children)
    if isLong { #expect(after.residentBytes <= before.residentBytes + count * 100) }
  }
}
