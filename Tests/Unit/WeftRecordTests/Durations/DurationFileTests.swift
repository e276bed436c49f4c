import Testing
import WeftEncoding
import WeftPlanning
import WeftPlatform
import WeftRecord
import WeftTestKit

struct DurationFileTests {
  private static let history = DurationHistory([
    DurationHistory.Entry("build", MeasuredStep(recent: [1_250_000, 1_300_000], times: 1)!),
    DurationHistory.Entry("3", MeasuredStep(recent: [7], times: 0)!),
    DurationHistory.Entry("images/finally.2/mail", MeasuredStep(recent: [0, 5], times: 40)!),
  ])

  private func sealed(_ lines: String) -> [UInt8] {
    let bytes = Array(lines.utf8)
    let checksum = bytes.withUnsafeBytes { Checksum.crc32c($0) }
    let digits = String(checksum, radix: 16)
    return bytes + "crc32c \(String(repeating: "0", count: 8 - digits.count))\(digits)\n".utf8
  }

  @Test func isALineForEachStepAndAChecksum() {
    #expect(
      DurationFile.bytes(of: DurationFileTests.history)
        == sealed("1 1250000 1300000 build\n0 7 3\n40 0 5 images/finally.2/mail\n"))
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func writtenDurationsAreReadBack(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let entries = (0..<Int.random(in: 0...50, using: &random)).map { index in
      let recent = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        Int.random(in: 0...MeasuredStep.longest, using: &random)
      }
      let times = Int.random(in: 0...1_000_000, using: &random)
      let address = ["\(index)", "s\(index)", "a/b.\(index)"].randomElement(using: &random)!
      return DurationHistory.Entry(address, MeasuredStep(recent: recent, times: times)!)
    }
    let history = DurationHistory(entries)
    #expect(DurationFile.history(in: DurationFile.bytes(of: history)) == history)
  }

  @Test func everyChangedByteAndEveryCutIsNoticed() {
    let whole = DurationFile.bytes(of: DurationFileTests.history)
    for index in whole.indices {
      for bit in 0..<8 {
        var damaged = whole
        damaged[index] ^= 1 << UInt8(bit)
        #expect(DurationFile.history(in: damaged) == nil, "byte \(index), bit \(bit)")
      }
      #expect(DurationFile.history(in: Array(whole[..<index])) == nil, "cut at \(index)")
    }
    #expect(DurationFile.history(in: whole + whole) == nil)
  }

  @Test(
    "what has a right checksum and is nonsense all the same says nothing",
    arguments: [
      "1 5 a", "a\n", "1 a\n", "x 5 a\n", "1 -5 a\n", "-1 5 a\n", "5\n", " 1 5 a\n", "\n",
      "1 9999999999999999999999 a\n", "9999999999999999999 5 a\n", "1 5 \u{FF}", "1  5 a\n",
    ])
  func nonsenseSaysNothing(lines: String) {
    #expect(DurationFile.history(in: sealed(lines)) == nil)
  }
}
