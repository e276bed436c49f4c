import Glibc
import Synchronization
import Testing
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

/// A power loss after any record, on a disk that keeps an arbitrary part of what was not synchronized: sectors in any
/// order, zeros in place of others, a shorter file.
@Suite struct PowerLossTests {
  /// The state when a record had been written and its writer continued.
  private struct Moment {
    /// The number of journal bytes written, and the number made durable.
    var written: Int
    var safe: Int
    /// The last record whose consequences had already happened.
    var promised: UInt64
  }

  private static let sector = 512

  @Test(
    "J06: what something has followed from survives the loss of power, and nothing is there that was not written",
    arguments: [RecordDurability.power, .process])
  func imagesOfTheDisk(_ durability: RecordDurability) throws {
    let (bytes, moments) = try history(durability)
    let ends = PowerLossTests.ends(of: bytes)
    var (images, refused) = (0, 0)
    for (index, moment) in moments.enumerated() {
      for seed in 0..<12 as Range<UInt64> {
        var random = SeededGenerator(seed: UInt64(index) << 32 | seed)
        let image = PowerLossTests.image(of: bytes[..<moment.written], moment, &random)
        let contents = PowerLossTests.contents(of: image)
        images += 1
        if contents.damage != nil { refused += 1 }
        let place: Comment = "after record \(index + 2), seed \(seed)"
        #expect(image.starts(with: bytes[..<contents.wholeBytes]), place)
        #expect(
          Int(contents.run.number) == ends.count { $0 <= contents.wholeBytes }, place)
        if durability == .power { #expect(contents.run.number >= moment.promised, place) }
      }
    }
    // Missing sectors before present ones count as damage: resume refuses instead of guessing.
    print("\(images) images of the disk, \(refused) of which resume refuses without --salvage")
    #expect(images > 500 && refused < images)
  }

  /// The records of a run with many steps.
  private func history(
    _ durability: RecordDurability
  ) throws -> (bytes: [UInt8], moments: [Moment]) {
    let scratch = try ScratchFolder()
    let path = "\(scratch.path)/.weft/runs/\(SampleRecords.run)/journal.jsonl"
    let safe = Mutex(0)
    let calls = FileCalls { call in
      if call == .synchronize { safe.withLock { $0 = max($0, PowerLossTests.size(path)) } }
      return nil
    }
    let (folder, writer) = try RunFolder.make(
      in: try scratch.state(calls), durability: durability)
    // A run exists from its first record on.
    safe.withLock { $0 = PowerLossTests.size(path) }
    var moments: [Moment] = []
    var (number, promised) = (1 as UInt64, 1 as UInt64)
    for kind in (0..<2).flatMap({ _ in SampleRecords.kinds.dropFirst(2) }) {
      try writer.record(kind, elapsed: .zero)
      number += 1
      if kind.isDecisive { promised = number }
      moments.append(
        Moment(
          written: PowerLossTests.size(path), safe: safe.withLock { $0 }, promised: promised))
    }
    let bytes = try folder.directory.bytes(of: RunFolder.journalName, limit: 1 << 30)
    writer.close()
    return (bytes, moments)
  }

  private static func image(
    of bytes: ArraySlice<UInt8>, _ moment: Moment, _ random: inout SeededGenerator
  ) -> [UInt8] {
    var image = Array(bytes)
    var sector = moment.safe / PowerLossTests.sector * PowerLossTests.sector
    while sector < image.count {
      if Int.random(in: 0..<3, using: &random) == 0 {
        for place in max(sector, moment.safe)..<min(sector + PowerLossTests.sector, image.count) {
          image[place] = 0
        }
      }
      sector += PowerLossTests.sector
    }
    if Bool.random(using: &random) {
      image.removeLast(image.count - Int.random(in: moment.safe...image.count, using: &random))
    }
    return image
  }

  private static func contents(of image: [UInt8]) -> JournalContents {
    JournalContents(of: image, run: SampleRecords.run)
  }

  /// The ends of lines.
  private static func ends(of bytes: [UInt8]) -> [Int] {
    bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  private static func size(_ path: String) -> Int {
    var status = stat()
    return lstat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
