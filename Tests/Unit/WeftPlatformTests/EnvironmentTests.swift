import Glibc
import Testing

@testable import WeftPlatform

@Suite struct EnvironmentTests {
  @Test(
    "P12: a name that is empty or has a = or NUL in it is refused",
    arguments: [
      ("", EnvironmentError.emptyName), ("A=B", .equalsSign(name: "A=B")),
      ("=", .equalsSign(name: "=")),
      ("A\0", .nulInName(name: "A\0")),
    ])
  func badName(name: String, problem: EnvironmentError) {
    #expect(throws: problem) { try EnvironmentBlock.empty.setting([(name, "x")]) }
    #expect(EnvironmentError.inName(name) == problem)
  }

  @Test("P13: the last layer wins and a program sees one entry per name")
  func lastLayerWins() throws {
    let block = try EnvironmentBlock.empty
      .setting([("A", "1"), ("B", "1"), ("A", "2")]).flattened()
      .setting([("B", "3"), ("C", "3")]).setting([("C", "4"), ("B", "5")])
    let ran = try run(["/usr/bin/env"], environment: block)
    #expect(ran.text.split(separator: "\n").sorted() == ["A=2", "B=5", "C=4"])
    #expect(block.count == 3)
    #expect((block["A"], block["B"], block["C"], block["D"]) == ("2", "5", "4", nil))
  }

  @Test func nilRemovesAVariable() throws {
    let base = try EnvironmentBlock.empty.setting([("A", "1"), ("B", "2")]).flattened()
    let without = try base.setting([("A", nil)])
    #expect(try run(["/usr/bin/env"], environment: without).text == "B=2\n")
    #expect(without["A"] == nil && without.names == ["B"])
    #expect(try without.setting([("A", "3")])["A"] == "3")
  }

  @Test func namesAreBytesAndNotText() throws {
    let block = try EnvironmentBlock.empty.setting([("\u{e9}", "one"), ("e\u{301}", "two")])
    #expect(block.count == 2)
    #expect(block["\u{e9}"] == "one")
  }

  @Test func valuesThatAreNotUTF8ReachTheProgramExactly() async throws {
    let script = #"X=$(printf '\377\376') exec sh -c 'printf %s "$X" | od -An -tx1'"#
    #expect(try run(sh: script).text == " ff fe\n")
    // Runs in a process of its own: adding a variable makes glibc move the environment while other threads read it.
    await #expect(processExitsWith: .success) {
      setenv("WEFT_TEST_LATIN", "caf\u{fffd}", 1)
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 3) { bytes in
        (bytes[0], bytes[1], bytes[2]) = (CChar(bitPattern: 0xff), CChar(bitPattern: 0xfe), 0)
        setenv("WEFT_TEST_LATIN", bytes.baseAddress!, 1)
      }
      let inherited = EnvironmentBlock.inherited()
      let ran = try run(
        sh: #"printf %s "$WEFT_TEST_LATIN" | od -An -tx1"#, environment: inherited)
      #expect(ran.text == " ff fe\n")
      #expect(inherited["WEFT_TEST_LATIN"] == "\u{fffd}\u{fffd}")
    }
  }

  @Test func aReducedEnvironmentKeepsOnlyWhatWasChosen() throws {
    let all = try EnvironmentBlock.empty.setting([("A", "1"), ("B", "2"), ("LC_X", "3")])
      .flattened()
    let kept = try all.setting([("LC_Y", "4"), ("A", nil)]).filtered {
      $0.hasPrefix("LC_") || $0 == "A"
    }
    #expect(kept.names.sorted() == ["LC_X", "LC_Y"])
  }

  @Test func hiddenVariablesDoNotCountAgainstTheLimit() throws {
    let big = (0..<100).map {
      (name: "BIG\($0)", value: Optional(String(repeating: "x", count: 100_000)))
    }
    let hidden = try EnvironmentBlock.empty.setting(big).flattened()
      .setting(big.map { ($0.name, nil) })
    #expect(hidden.kernelBytes == 0)
    #expect(try run(["/bin/true"], environment: hidden).end.exited(with: 0))
  }
}
