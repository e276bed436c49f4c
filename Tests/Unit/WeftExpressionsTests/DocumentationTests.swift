import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftExpressions

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The documentation page on expressions, whose examples are tested.
private struct Page {
  /// The contents of fenced blocks, each with its language.
  let blocks: [(language: String, text: String)]

  init() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let path = root + "/Sources/Weft/Documentation.docc/Expressions.md"
    let stream = try #require(fopen(path, "rb"), "\(path) cannot be read")
    defer { fclose(stream) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, stream)
    let parts = String(decoding: bytes[..<count], as: UTF8.self).split(
      separator: "```", omittingEmptySubsequences: false)
    blocks = stride(from: 1, to: parts.count, by: 2).map { index in
      let lines = parts[index].split(
        separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(lines[0]), String(lines.last ?? ""))
    }
  }
}

struct DocumentationTests {
  @Test func theExamplesOfThePageAreTrue() throws {
    let page = try Page()
    let json = try #require(page.blocks.first { $0.language == "json" }).text
    let scope = ValueScope(try contexts(json), statuses: [.success])
    let examples = page.blocks.filter { $0.language == "expressions" }
      .flatMap { $0.text.split(separator: "\n") }
    #expect(examples.count > 50)
    for example in examples {
      let parts = example.split(separator: " → ")
      try #require(parts.count == 2, "\(example)")
      let text = String(parts[0])
      let template =
        try text.contains("${{")
        ? Template.parse(text) : Template(Expression.parse(text))
      #expect(try template.evaluate(in: scope).value.jsonText(.compact) == parts[1], "\(example)")
    }
  }

  @Test func everyFunctionIsOnThePage() throws {
    let page = try Page()
    let examples = page.blocks.map(\.text).joined()
    for function in ExpressionFunction.allCases {
      #expect(examples.contains(function.rawValue + "(") || function.status != nil)
    }
  }
}
