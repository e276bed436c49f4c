import Testing
import WeftEvents

@Suite struct TraceContextTests {
  static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test func itIsReadAndWritten() throws {
    let context = try #require(TraceContext(parent: Self.parent))
    #expect(context.trace == TraceID(high: 0x4bf9_2f35_77b3_4da6, low: 0xa3ce_929d_0e0e_4736))
    #expect(context.span == SpanID(0x00f0_67aa_0ba9_02b7))
    #expect(context.isSampled && context.state == nil)
    #expect(context.parent == Self.parent)
  }

  @Test(arguments: [
    ("00", false), ("01", true), ("02", false), ("03", true), ("ff", true),
  ])
  func theFirstFlagCounts(flags: String, isSampled: Bool) {
    let context = TraceContext(parent: Self.parent.dropLast(2) + flags)
    #expect(context?.isSampled == isSampled)
    #expect(context?.parent.hasSuffix(isSampled ? "-01" : "-00") == true)
  }

  @Test(arguments: [
    "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
  ])
  func laterVersionsAreReadAsFarAsKnown(text: String) {
    #expect(TraceContext(parent: text)?.parent == Self.parent)
  }

  @Test(arguments: [
    "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
    "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
    "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-é",
  ])
  func malformedOnesAreRefused(text: String) {
    #expect(TraceContext(parent: text) == nil)
  }

  @Test(arguments: [
    ("vendor=value", true), ("a=1,b=2", true), ("a=1, ,b=2", true), ("a@b=1", true),
    ("", false), ("novalue", false), ("=value", false), ("a=1\n", false), ("a=é", false),
    ((1...33).map { "k\($0)=v" }.joined(separator: ","), false),
    ("a=" + String(repeating: "x", count: 511), false),
  ])
  func onlyAWellFormedStateIsPassedOn(text: String, isKept: Bool) {
    #expect(TraceContext(parent: Self.parent, state: text)?.state == (isKept ? text : nil))
  }

  @Test func identitiesAreNeverZero() {
    #expect(TraceID(high: 0, low: 0) == nil && SpanID(0) == nil)
    #expect(TraceID(high: 0, low: 1)?.description == "00000000000000000000000000000001")
    #expect(SpanID(255)?.description == "00000000000000ff")
  }
}
