import Testing
import WeftDefinition
import WeftPlatform

@testable import Weft

struct NestingChainTests {
  private func hop(_ name: String) -> NestingChain.Hop {
    let names = name.split(separator: "/").map { Array($0.utf8) }
    return NestingChain.Hop(file: ConfinedPath(names), name: name, naming: nil)
  }

  private func chain(_ names: [String]) -> NestingChain {
    var chain = NestingChain(root: hop(names[0]).file, called: names[0])
    for name in names.dropFirst() { chain.enter(hop(name)) }
    return chain
  }

  private func fault(_ names: [String], then next: String, above below: [String] = []) -> String? {
    do throws(NamingError) {
      try chain(names).check(hop(next), above: below)
      return nil
    } catch {
      return "\(error.code) \(error.message(of: next))"
    }
  }

  @Test(
    "W17: a file that is being read is not read again",
    arguments: [
      (["main"], "main", "main → main"),
      (["main", "lib/a"], "main", "main → lib/a → main"),
      (["main", "lib/a", "lib/b"], "lib/a", "main → lib/a → lib/b → lib/a"),
    ])
  func aFileBeingReadIsNotReadAgain(reading: [String], next: String, reported: String) {
    #expect(fault(reading, then: next) == "W0603 \"\(next)\" runs itself: \(reported)")
  }

  @Test func aFileThatHasBeenReadMayBeNamedAgain() {
    var chain = chain(["main", "a"])
    chain.leave()
    #expect(throws: Never.self) { try chain.check(hop("a"), above: ["a"]) }
  }

  @Test func aFileThatLiesNowhereIsNamedByNone() {
    let chain = NestingChain(root: nil, called: "<stdin>")
    #expect(throws: Never.self) { try chain.check(hop("<stdin>"), above: []) }
  }

  @Test(
    "W17: eight files may be inside each other",
    arguments: [
      (7, 0, true), (8, 0, false), (0, 7, true), (0, 8, false), (4, 3, true), (4, 4, false),
    ])
  func eightFilesMayBeInsideEachOther(above: Int, below: Int, mayBe: Bool) {
    let reading = ["main"] + (0..<above).map { "a\($0)" }
    let known = ["next"] + (0..<below).map { "b\($0)" }
    let reported = (reading + known).joined(separator: " → ")
    let message = "W0604 workflow files are nested more than 8 deep: \(reported)"
    #expect(fault(reading, then: "next", above: known) == (mayBe ? nil : message))
  }

  @Test func readingStopsAtTheByteLimit() {
    var budget = ByteBudget(limit: 10)
    budget.take(4)
    #expect(budget.left == 6)
    budget.exhaust()
    #expect(budget.left == 0)
  }
}
