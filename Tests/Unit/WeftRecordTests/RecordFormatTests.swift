import Testing
import WeftEncoding
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

@Suite struct RecordFormatTests {
  private static let counts = 0...Int(Int32.max)
  private static let amounts = 0...(1 << 60)

  @Test(arguments: SampleRecords.records.indices)
  func everyRecordReadsBackAsItWas(index: Int) throws {
    let line = SampleRecords.lines[index]
    let read = try line.dropLast().withUnsafeBytes { bytes in
      #expect(RecordLine.isWhole(bytes))
      return try RunRecord(line: bytes)
    }
    #expect(read == SampleRecords.records[index])
  }

  @Test func aRecordIsOneLineOfJSONWithItsChecksumLast() {
    var json = RecordJSON(version: "1.2.3", startedAt: SampleRecords.start)
    let line = json.withLine(of: .event(.stepStarted("a", attempt: 2)), 7, after: .seconds(1)) {
      String(decoding: $0, as: UTF8.self)
    }
    #expect(
      line == """
        {"n":7,"at":"2026-11-21T15:13:38.123Z","type":"step.started","step":"a","attempt":2,"crc":"\
        \(line.suffix(11).prefix(8))"}

        """)
  }

  @Test(
    "X20: counts, amounts and durations of a record are accepted from 0, or 1, up to their limits only",
    arguments: [
      ("succeeded", 0, counts.upperBound), ("skipped", 0, counts.upperBound),
      ("attempt", 1, counts.upperBound), ("attemptLimit", 1, counts.upperBound),
      ("attempts", 1, counts.upperBound), ("elements", 0, counts.upperBound),
      ("resumption", 0, counts.upperBound), ("steps", 0, counts.upperBound),
      ("requests", 0, counts.upperBound), ("redirects", 0, counts.upperBound),
      ("status", 0, 999), ("port", 0, 65_535), ("bytesSent", 0, amounts.upperBound),
      ("outputBytes", 0, amounts.upperBound), ("logBytes", 0, amounts.upperBound),
      ("minorFaults", 0, amounts.upperBound),
      ("peakMemoryBytes", 0, amounts.upperBound), ("durationUs", 0, .max), ("delayUs", 0, .max),
      ("totalUs", 0, .max), ("firstByteUs", 0, .max), ("limitUs", 0, .max), ("n", 1, .max),
      ("untilNs", -Int.max, .max), ("pid", .min, .max),
    ] as [(String, Int, Int)])
  func acceptedRanges(key: String, least: Int, most: Int) {
    var found = 0
    for line in SampleRecords.lines {
      let text = String(decoding: line.dropLast(RecordLine.tailBytes + 1), as: UTF8.self)
      for range in text.ranges(of: "\"\(key)\":") {
        let rest = text[range.upperBound...].drop { $0 == "-" || $0.isNumber }
        // A member of the same name may be a list.
        guard rest.startIndex > range.upperBound else { continue }
        found += 1
        let isRead = { (number: String) in
          let forged = Forgery.line(Array((text[..<range.upperBound] + number + rest).utf8))
          return forged.withUnsafeBytes { (try? RunRecord(line: $0)) != nil }
        }
        if key == "pid" {
          // The id of an engine or a program; the former id of a process that has been terminated is only for people.
          for number in ["\(Int.max)", "\(Int.min)", "0", "-1", "2147483648"] { _ = isRead(number) }
          continue
        }
        #expect(isRead("\(least)"), "\(text)")
        #expect(isRead("\(most)"), "\(text)")
        if least > -.max { #expect(!isRead("\(least - 1)"), "\(text)") }
        if most < .max { #expect(!isRead("\(most + 1)"), "\(text)") }
        #expect(!isRead("9223372036854775808"), "\(text)")
        #expect(!isRead("-9223372036854775808"), "\(text)")
      }
    }
    #expect(found > 0)
  }

  @Test("J04: a flipped bit anywhere in a line is found")
  func flippedBits() {
    let line = Array(SampleRecords.lines[2].dropLast())
    for place in line.indices {
      for bit in 0..<8 {
        var damaged = line
        damaged[place] ^= 1 << bit
        #expect(!damaged.withUnsafeBytes(RecordLine.isWhole), "byte \(place), bit \(bit)")
      }
    }
  }

  @Test("S18: no cut and no change of a line, its checksum made to fit, is more than refused")
  func foreignLines() {
    var refused = 0
    for line in SampleRecords.lines {
      let body = Array(line.dropLast(19))
      for place in body.indices {
        for change in [UInt8(ascii: "\""), UInt8(ascii: "}"), UInt8(ascii: "["), 0, 0xFF, 0x39] {
          var other = body
          other[place] = change
          for candidate in [other, Array(body[..<place])] {
            let forged = Forgery.line(candidate)
            let record = forged.withUnsafeBytes { try? RunRecord(line: $0) }
            if record == nil { refused += 1 }
          }
        }
      }
    }
    #expect(refused > 10_000)
  }

  @Test(
    "S18: numbers that name no process, run or moment are refused",
    arguments: [
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"step.spawned","step":"a","attempt":1,"pid":1,"startTicks":3"#,
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"step.spawned","step":"a","attempt":1,"pid":-7,"startTicks":3"#,
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"step.spawned","step":"a","attempt":1,"pid":99999999999,"startTicks":3"#,
      #"{"n":0,"at":"2026-11-21T15:13:38.123Z","type":"step.queued","step":"a""#,
      #"{"n":99999999999999999999,"at":"2026-11-21T15:13:38.123Z","type":"step.queued","step":"a""#,
      #"{"n":1,"at":"2026-13-21T15:13:38.123Z","type":"step.queued","step":"a""#,
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"step.queued","step":"""#,
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"step.started","step":"a","attempt":0"#,
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"record.opened","format":1,"weft":"1","run":"../../etc","resumption":0,"pid":1,"startTicks":1,"bootId":"""#,
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"record.opened","format":1,"weft":"1","run":"20261121-151337-4f2a9c","resumption":0,"numbers":[{"of":"","numbers":[1,1]}],"pid":1,"startTicks":1,"bootId":"""#,
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"record.opened","format":1,"weft":"1","run":"20261121-151337-4f2a9c","resumption":0,"numbers":[{"of":"","numbers":[-1]}],"pid":1,"startTicks":1,"bootId":"""#,
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"record.opened","format":1,"weft":"1","run":"20261121-151337-4f2a9c","resumption":0,"numbers":[{"of":"","numbers":[9223372036854775807]}],"pid":1,"startTicks":1,"bootId":"""#,
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"step.vanished","step":"a""#,
    ])
  func unfitNumbers(body: String) {
    let forged = Forgery.line(Array(body.utf8))
    #expect(throws: RecordFormatError.self) {
      try forged.withUnsafeBytes { try RunRecord(line: $0) }
    }
  }

  @Test func unknownRecordMembersAreIgnored() throws {
    let body =
      #"{"n":1,"at":"2026-11-21T15:13:38.123Z","type":"step.queued","step":"a","new":{"x":[1,"}"]},"y":null"#
    let record = try Forgery.line(Array(body.utf8)).withUnsafeBytes {
      try RunRecord(line: $0)
    }
    #expect(record.kind == .event(.stepQueued("a")))
  }
}

/// Forged lines with correct checksums.
enum Forgery {
  /// - Parameter body: Everything before the checksum.
  static func line(_ body: [UInt8]) -> [UInt8] {
    let digits = RecordLine.digits(of: body.withUnsafeBytes(Checksum.crc32c))
    return body + Array(",\"crc\":\"\(digits)\"}".utf8)
  }
}
