import Synchronization
import Testing

@testable import WeftJSON

struct JSONWriterTests {
  @Test func commasAndColonsComeByThemselves() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("a", 1)
    writer.key("b")
    writer.beginArray()
    writer.bool(true)
    writer.null()
    writer.double(0.5)
    writer.endArray()
    writer.key("c" as String)
    writer.beginObject()
    writer.endObject()
    writer.member("d", "x")
    writer.member("e", false)
    writer.key("f")
    writer.raw(Array("[1]".utf8))
    writer.key("g")
    writer.number(JSONNumber(7))
    writer.endObject()
    #expect(
      writer.text == #"{"a":1,"b":[true,null,0.5],"c":{},"d":"x","e":false,"f":[1],"g":7}"#)
    #expect(writer.withBytes { Array($0) } == writer.bytes)
  }

  @Test func prettyTextsAreIndented() {
    var writer = JSONWriter(.pretty)
    writer.value(["a": [1, [:], []], "b": ["c": nil]])
    #expect(
      writer.text == """
        {
          "a": [
            1,
            {},
            []
          ],
          "b": {
            "c": null
          }
        }
        """)
  }

  @Test(arguments: [64, 65, 100, 4096]) func aFullBufferIsDrainedAndDoesNotGrow(capacity: Int) {
    var value: JSONValue = [
      "short": "a\nb", "long": .string(String(repeating: "é\u{1}", count: 3000)),
    ]
    for level in 0..<40 { value = ["level \(level)": [value, 1.5, nil, true]] }
    let drained = Drained()
    var writer = JSONWriter(capacity: capacity, draining: drained.take)
    writer.value(value)
    writer.endLine()
    writer.withBytes(drained.take)

    var whole = JSONWriter()
    whole.value(value)
    whole.endLine()
    #expect(drained.bytes == whole.bytes)
  }

  private final class Drained: Sendable {
    private let taken = Mutex<[UInt8]>([])

    var bytes: [UInt8] { taken.withLock { $0 } }

    func take(_ bytes: UnsafeRawBufferPointer) {
      let copy = Array(bytes)
      taken.withLock { $0 += copy }
    }
  }

  @Test func eachLineIsATextOfItsOwn() {
    var writer = JSONWriter()
    for value in [1, 2] as [JSONValue] {
      writer.value(value)
      writer.endLine()
    }
    #expect(writer.text == "1\n2\n")
    writer.removeAll()
    writer.value([3])
    #expect(writer.text == "[3]")
  }

  @Test(arguments: [
    ("", #""""#), ("a\"b\\c/", #""a\"b\\c/""#), ("\n\r\t\u{8}\u{C}", #""\n\r\t\b\f""#),
    ("\u{0}\u{1}\u{F}\u{10}\u{1F}\u{7F}", "\"\\u0000\\u0001\\u000f\\u0010\\u001f\u{7F}\""),
    ("é日😀\u{2028}\u{2029}", "\"é日😀\u{2028}\u{2029}\""),
    ("0123456\"89abcde\\", #""0123456\"89abcde\\""#), ("01234567\n", #""01234567\n""#),
  ])
  func onlyWhatMustBeIsEscaped(text: String, written: String) {
    var writer = JSONWriter()
    writer.string(text)
    #expect(writer.text == written)
  }

  @Test func everyASCIIStringReadsBack() throws {
    for byte in UInt8(0)..<128 {
      for padding in 0..<9 {
        let text = String(repeating: "x", count: padding) + String(Unicode.Scalar(byte)) + "yz"
        var writer = JSONWriter()
        writer.string(text)
        #expect(try root(of: writer.text).stringValue == text)
      }
    }
  }

  @Test(arguments: [0, 7, -7, 10, 99, 100, 12345, -1_000_000, .max, .min])
  func integersAreWrittenInFull(value: Int) {
    var writer = JSONWriter()
    writer.int(value)
    #expect(writer.text == String(value))
  }

  @Test func nonFiniteNumberBecomesNull() {
    var writer = JSONWriter()
    writer.beginArray()
    for value in [Double.nan, .infinity, -.infinity, 1] { writer.double(value) }
    writer.endArray()
    #expect(writer.text == "[null,null,null,1]")
  }

  @Test func textThatIsNotUTF8IsRepaired() {
    var writer = JSONWriter()
    writer.string(decoding: [0x61, 0xFF, 0x22, 0xC3])
    #expect(writer.text == "\"a\u{FFFD}\\\"\u{FFFD}\"")
  }

  @Test func theBufferGrowsAsItMust() throws {
    var writer = JSONWriter(capacity: 0)
    let long = String(repeating: "0123456789", count: 10_000)
    writer.beginArray()
    for _ in 0..<20 { writer.string(long) }
    writer.endArray()
    #expect(writer.count == 20 * 100_003 + 1)
    #expect(try root(of: writer.text).elements.allSatisfy { $0.isString(equalTo: long) })
  }
}
