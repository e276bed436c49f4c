import Testing

@testable import WeftTelemetry

@Suite struct ProtobufTests {
  @Test(
    arguments: [
      (0, [8, 0]), (127, [8, 127]), (128, [8, 128, 1]), (300, [8, 172, 2]),
      (UInt64.max, [8] + [UInt8](repeating: 255, count: 9) + [1]),
    ] as [(UInt64, [UInt8])])
  func numbersAreVarints(number: UInt64, bytes: [UInt8]) throws {
    var writer = ProtobufWriter()
    writer.number(1, number)
    #expect(writer.bytes == bytes)
    var reader = ProtobufReader(bytes[...])
    guard case (1, .number(let found))? = try reader.next() else {
      Issue.record("no number")
      return
    }
    #expect(found == number)
    #expect(try reader.next() == nil)
  }

  @Test func fieldsHaveTheirWireTypes() {
    var writer = ProtobufWriter()
    writer.fixed64(7, 1)
    writer.fixed32(16, 2)
    writer.message(2) { $0.text(1, "é") }
    #expect(
      writer.bytes == [
        0x39, 1, 0, 0, 0, 0, 0, 0, 0, 0x85, 1, 2, 0, 0, 0, 0x12, 4, 0x0A, 2, 0xC3, 0xA9,
      ])
  }

  @Test(
    arguments: [
      [8], [8, 128], [10, 5, 1], [0, 1], [11], [9, 1, 2], [10] + [UInt8](repeating: 255, count: 11),
    ] as [[UInt8]])
  func malformedMessagesAreRefused(bytes: [UInt8]) {
    var reader = ProtobufReader(bytes[...])
    #expect(throws: ProtobufReader.Malformed.self) {
      while try reader.next() != nil {}
    }
  }
}
