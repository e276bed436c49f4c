import Testing
import WeftDefinition

@Suite struct ActionNameTests {
  @Test(arguments: [
    "a", "_", "resize", "images.resize-2", "A.", String(repeating: "x", count: 255),
  ])
  func isAName(text: String) {
    #expect(ActionName(text)?.text == text)
  }

  @Test(arguments: [
    "", ".", ".a", "-a", "1a", "a b", "a/b", "\u{e9}", "a\n", String(repeating: "x", count: 256),
  ])
  func isNone(text: String) {
    #expect(ActionName(text) == nil)
  }
}
