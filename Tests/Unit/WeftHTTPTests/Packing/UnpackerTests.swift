import Testing
import WeftTestKit

@testable import WeftCurl
@testable import WeftHTTP

struct UnpackerTests {
  private enum Outcome: Equatable {
    case whole([UInt8])
    case incomplete
    case refused
  }

  /// The unpacked bytes of input that arrives in pieces of one length.
  private func unpacked(
    _ bytes: [UInt8], as coding: String, inPiecesOf length: Int = .max, limit: Int = 1 << 20
  ) -> Outcome {
    var unpacker = Unpacker(coding == "gzip" ? .gzip : .deflate)
    var result: [UInt8] = []
    var rest = bytes[...]
    repeat {
      rest.prefix(length).withUnsafeBytes { unpacker.append($0) }
      rest = rest.dropFirst(length)
      do {
        while let piece = try unpacker.nextPiece() {
          result += piece
          unpacker.takePiece()
          if result.count > limit { return .refused }
        }
      } catch {
        return .refused
      }
    } while !rest.isEmpty
    return unpacker.isComplete ? .whole(result) : .incomplete
  }

  @Test(arguments: PackedSample.allCases)
  func everyWayOfPackingIsUnpackedHoweverItArrives(sample: PackedSample) {
    for length in [1, 2, 3, 7, 64, .max] {
      let outcome = unpacked(sample.bytes, as: sample.coding, inPiecesOf: length)
      #expect(outcome == .whole(Array(PackedSample.text.utf8)), "in pieces of \(length)")
    }
  }

  @Test("X12: a packed body is whole only with its end", arguments: PackedSample.allCases)
  func packedBodyIsIncompleteWithoutItsEnd(sample: PackedSample) {
    for count in 0..<sample.bytes.count where !sample.ends.contains(count) {
      let outcome = unpacked(Array(sample.bytes.prefix(count)), as: sample.coding)
      #expect(outcome == .incomplete, "after \(count) bytes")
    }
  }

  @Test(
    "X12: a packed body with a wrong bit is refused, or lacks its end",
    // Adler's checksum is too weak for this, and a bare stream has none.
    arguments: PackedSample.allCases.filter { $0.coding == "gzip" })
  func packedBodyWithAWrongBitIsRefused(sample: PackedSample) {
    let text = Array(PackedSample.text.utf8)
    for bit in 0..<8 * sample.bytes.count {
      var bytes = sample.bytes
      bytes[bit / 8] ^= 1 << (bit % 8)
      // Some bits of the header have no meaning.
      if case .whole(let result) = unpacked(bytes, as: sample.coding) {
        #expect(result == text, "bit \(bit)")
      }
    }
  }

  @Test(arguments: PackedSample.allCases)
  func moreBehindTheEndIsRefused(sample: PackedSample) {
    let more = sample.bytes + [UInt8](repeating: 0, count: 10)
    #expect(unpacked(more, as: sample.coding) == .refused)
    // One byte may be the beginning of a further member.
    #expect(
      unpacked(sample.bytes + [0x1F], as: sample.coding)
        == (sample.coding == "gzip" ? .incomplete : .refused))
  }

  @Test func longCopiesReachBackOverTheWholeWindow() {
    // A million zeros, as the longest possible copies; each copy overlaps its own output.
    #expect(
      unpacked(Gzip.zeros(1_000_000), as: "gzip", inPiecesOf: 100)
        == .whole([UInt8](repeating: 0, count: 1_000_000)))
  }

  @Test func unpackingAnyBytesTerminates() {
    var random = SeededGenerator(seed: 18)
    for _ in 0..<2000 {
      var bytes = PackedSample.allCases.randomElement(using: &random)!.bytes
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = .random(in: 0...255, using: &random)
      }
      _ = unpacked(bytes, as: Bool.random(using: &random) ? "gzip" : "deflate")
    }
  }
}
