import Testing

@testable import WeftEvents
@testable import WeftTelemetry

@Suite struct TraceMessageTests {
  /// The values of a field in decoded messages; the path leads to it through messages.
  private func fields(_ bytes: [UInt8], at path: [UInt64]) throws -> [ProtobufReader.Value] {
    var level = [bytes[...]]
    for field in path.dropLast() {
      level = try level.flatMap { message in
        try values(in: message).compactMap { number, value in
          guard number == field, case .data(let inner) = value else { return nil }
          return inner
        }
      }
    }
    return try level.flatMap { message in
      try values(in: message).filter { $0.0 == path.last }.map(\.1)
    }
  }

  private func values(in message: ArraySlice<UInt8>) throws -> [(UInt64, ProtobufReader.Value)] {
    var reader = ProtobufReader(message)
    var values: [(UInt64, ProtobufReader.Value)] = []
    while let (field, value) = try reader.next() { values.append((field, value)) }
    return values
  }

  private func texts(_ bytes: [UInt8], at path: [UInt64]) throws -> [String] {
    try fields(bytes, at: path).map { value in
      guard case .data(let data) = value else { return "a number" }
      return String(decoding: data, as: UTF8.self)
    }
  }

  private let context = TraceContext(
    trace: TraceID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)!, span: SpanID(1)!,
    state: "a=1")

  private func request(_ spans: Span...) -> [UInt8] {
    let message = TraceMessage(
      of: context, startedAt: WallTime(nanoseconds: 1_000_000_000),
      resource: [SpanAttribute("service.name", "weft")])
    return message.request(spans.map { message.encoded($0) })
  }

  @Test func aRequestHasResourceScopeAndSpans() throws {
    var span = Span(SpanID(0x1112_1314_1516_1718)!, "build", below: SpanID(2)!, at: .seconds(1))
    span.end = .seconds(2)
    span.kind = .client
    span.status = .error("broke")
    span.attributes = [
      SpanAttribute("text", "é"), SpanAttribute("number", .number(-1)),
      SpanAttribute("flag", .flag(true)), SpanAttribute("texts", .texts(["x", "y"])),
    ]
    let bytes = request(span)
    #expect(try texts(bytes, at: [1, 1, 1, 1]) == ["service.name"])
    #expect(try texts(bytes, at: [1, 2, 1, 1]) == ["weft"])
    let path: [UInt64] = [1, 2, 2]
    #expect(
      try fields(bytes, at: path + [1]).map { "\($0)" }
        == ["data(ArraySlice(\(Array(1...16) as [UInt8])))"])
    #expect(try texts(bytes, at: path + [3]) == ["a=1"])
    #expect(try texts(bytes, at: path + [5]) == ["build"])
    #expect(try texts(bytes, at: path + [9, 1]) == ["text", "number", "flag", "texts"])
    #expect(try texts(bytes, at: path + [9, 2, 1]) == ["é"])
    #expect(try texts(bytes, at: path + [9, 2, 5, 1, 1]) == ["x", "y"])
    #expect(try texts(bytes, at: path + [15, 2]) == ["broke"])
    guard case .number(let number)? = try fields(bytes, at: path + [9, 2, 3]).first else {
      Issue.record("no number")
      return
    }
    #expect(Int64(bitPattern: number) == -1)
  }

  @Test func longTextsAreCutBetweenCharacters() throws {
    for shift in 0..<4 {
      let text = String(repeating: "x", count: shift) + String(repeating: "🙂", count: 2000)
      let span = Span(SpanID(1)!, text, below: nil, at: .zero)
      let name = try #require(try texts(request(span), at: [1, 2, 2, 5]).first)
      #expect(name.utf8.count <= 4096 && name.hasSuffix("…") && !name.contains("\u{FFFD}"))
    }
  }

  @Test func aRootHasNoParent() throws {
    let bytes = request(Span(SpanID(1)!, "run", below: nil, at: .zero))
    #expect(try fields(bytes, at: [1, 2, 2, 4]).isEmpty)
    #expect(try fields(bytes, at: [1, 2, 2, 15]).isEmpty)
  }
}
