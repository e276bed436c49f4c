import Testing
import WeftDefinition

@Suite struct SizeTextTests {
  @Test(
    arguments: [
      ("1B", 1),
      ("512B", 512),
      ("1KB", 1000),
      ("64KiB", 65_536),
      ("10MB", 10_000_000),
      ("3MiB", 3 << 20),
      ("2GB", 2_000_000_000),
      ("1GiB", 1 << 30),
      ("007KB", 7000),
      ("1048576GiB", WorkflowLimits.largestSize.bytes), ("1TiB", 1 << 40),
      ("2TB", 2_000_000_000_000), ("1024TiB", WorkflowLimits.largestSize.bytes),
    ] as [(String, Int)])
  func readsAWholeNumberWithAUnit(text: String, bytes: Int) throws {
    #expect(try SizeText.size(from: text) == ByteCount(bytes))
  }

  @Test(
    arguments: [
      ("", .malformed),
      ("all", .malformed),
      ("KB", .malformed),
      (" 1KB", .malformed),
      ("+1KB", .malformed),
      ("64", .withoutUnit(number: "64")),
      ("64K", .unknownUnit("K", nearest: "KiB")),
      ("64kb", .unknownUnit("kb", nearest: "KB")),
      ("64 MiB", .unknownUnit(" MiB", nearest: "MiB")),
      ("64KiB ", .unknownUnit("KiB ", nearest: nil)),
      ("1PiB", .unknownUnit("PiB", nearest: nil)), ("1T", .unknownUnit("T", nearest: "TiB")),
      ("1KB1B", .unknownUnit("KB1B", nearest: nil)),
      ("-1KB", .negative),
      ("1.5KB", .fraction),
      ("0B", .zero),
      ("1048577GiB", .tooLarge),
      ("9223372036854775807GiB", .tooLarge),
      ("99999999999999999999B", .tooLarge),
    ] as [(String, SizeText.ParseError)])
  func refusesEverythingElse(text: String, fault: SizeText.ParseError) {
    #expect(throws: fault) { try SizeText.size(from: text) }
  }

  @Test(
    arguments: [
      (0, "0B"), (1, "1B"), (1001, "1001B"), (1000, "1KB"), (1024, "1KiB"), (10_000_000, "10MB"),
      (1 << 30, "1GiB"), (3 << 30, "3GiB"), (1 << 50, "1024TiB"),
    ])
  func writesTheLargestUnitThatLeavesNothingOver(bytes: Int, text: String) {
    #expect(ByteCount(bytes).description == text)
  }
}
