import Testing
import WeftDrawing

struct SVGTests {
  static let nasty = [
    "</script><script>alert(1)</script>", "]]>", "<!-- -- >", "&amp;&#0;", "\"' onload='x",
    "a\u{0}b\u{1B}c\u{7F}d\u{9B}",
    "\u{202E}reversed\u{2066}",
    String(
      String.UnicodeScalarView(
        [0xFFFE, 0xFFFF, 0xFDD0, 0x1FFFE].compactMap { Unicode.Scalar($0 as UInt32) })),
    "\u{2028}\u{FEFF}",
  ]

  @Test(arguments: nasty)
  func anyTextIsOnlyText(text: String) {
    let lines = [Picture.Line(text, .name), Picture.Line(text, .command)]
    let picture = Picture(
      title: text, summary: [text],
      nodes: [Picture.Node(lines: lines, description: text, group: 0)],
      groups: [Picture.Group(lines: lines, description: text)])
    let plain = Picture(
      title: "t", summary: ["s"],
      nodes: [
        Picture.Node(
          lines: [Picture.Line("a", .name), Picture.Line("b", .command)], description: "d", group: 0
        )
      ],
      groups: [
        Picture.Group(
          lines: [Picture.Line("a", .name), Picture.Line("b", .command)], description: "d")
      ])
    for render in [SVGWriter.rendered, HTMLPage.rendered] {
      let (drawn, model) = (render(picture), render(plain))
      for byte in "<>\"".utf8 {
        #expect(drawn.count { $0 == byte } == model.count { $0 == byte })
      }
      let scalars = String(decoding: drawn, as: UTF8.self).unicodeScalars
      #expect(scalars.allSatisfy { $0 == "\n" || $0.isXMLCharacter && !$0.reordersText })
    }
  }

  @Test func aStackIsInsideItsBox() {
    let line = Picture.Line("many", .name)
    let size = { (traits: Picture.Traits) in
      Picture(title: "", nodes: [Picture.Node(lines: [line], traits: traits)]).graph.nodes[0].size
    }
    #expect(size([.many]).width > size([]).width)
    #expect(size([.many]).height > size([]).height)
  }

  @Test func traitsAndSignsHaveShapes() {
    let signs = Picture.Sign.allCases.map { Picture.Line($0.rawValue, .remark, sign: $0) }
    let picture = Picture(
      title: "signs",
      nodes: [
        Picture.Node(lines: signs, traits: [.critical, .skipped, .cached, .cleanup, .many])
      ])
    let text = String(decoding: SVGWriter.rendered(picture), as: UTF8.self)
    #expect(text.split(separator: "class=\"sign\"").count == signs.count + 1)
    #expect(text.contains("class=\"node critical skipped cached cleanup many\""))
    let signsAsDrawn = text.split(separator: "class=\"sign\"").dropFirst()
    let paths = signsAsDrawn.map { $0.split(separator: "\"").dropFirst(3).first }
    #expect(Set(paths).count >= signs.count)
  }

  @Test func descriptionsAreForEverybody() {
    let picture = Picture(title: "a graph", summary: ["3 steps", "critical path: a, b"])
    let text = String(decoding: SVGWriter.rendered(picture), as: UTF8.self)
    #expect(text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "))
    #expect(text.contains("role=\"img\" aria-labelledby=\"graph-title graph-description\""))
    #expect(text.contains("<title id=\"graph-title\">a graph</title>"))
    #expect(text.contains("<desc id=\"graph-description\">3 steps\ncritical path: a, b</desc>"))
    #expect(text.contains("@media (prefers-color-scheme: dark)"))
  }
}

extension Unicode.Scalar {
  /// Whether XML 1.0 §2.2 allows the character and does not discourage it.
  fileprivate var isXMLCharacter: Bool {
    value >= 0x20 && !(0x7F...0x9F).contains(value) && !(0xFDD0...0xFDEF).contains(value)
      && value & 0xFFFE != 0xFFFE
  }

  fileprivate var reordersText: Bool {
    (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
      || (0x200E...0x200F).contains(value)
  }
}
