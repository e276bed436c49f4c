import Testing
import WeftDiagnostics
import WeftReporting
import WeftTestKit

@testable import WeftJSON

/// Valid texts with random mutations: the reader always ends, gives a reason for each rejection, and points into the
/// text.
struct JSONMutationTests {
  @Test(arguments: 0..<400 as Range<UInt64>)
  func noTextBringsTheReaderDown(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let text = Array(JSONSample.text(depth: 4, using: &random).utf8)
    for _ in 0..<25 {
      let mutant = file(JSONMutationTests.mutated(text, using: &random))
      let (root, diagnostics) = JSONReader.read(mutant)
      #expect(root != nil || diagnostics.contains { $0.isError })
      #expect(diagnostics.allSatisfy { isInside($0, mutant) })
      if let root { check(root, in: mutant, isRight: diagnostics.isEmpty) }
      _ = DiagnosticText().rendered(DiagnosticCollection(diagnostics))
    }
  }

  private func isInside(_ diagnostic: Diagnostic, _ text: SourceFile) -> Bool {
    ([diagnostic.place] + diagnostic.related.map(\.place)).allSatisfy { place in
      guard let place else { return false }
      return place.range.start <= place.range.end && Int(place.range.end) <= text.bytes.count
    }
  }

  private func check(_ root: JSONNode, in text: SourceFile, isRight: Bool) {
    let value = JSONValue(root)
    for index in 0..<root.document.nodeCount {
      let range = JSONNode(document: root.document, index: index).range
      #expect(range.start <= range.end && Int(range.end) <= text.bytes.count)
    }
    guard isRight else { return }
    let again = JSONReader.read(file(value.description)).root
    #expect(again.map(JSONValue.init) == value)
  }

  private static let intruders =
    Array("[]{}:,\"\\'/*#\n\t\u{0}+-.eEuntf0 ".utf8) + [0xFF, 0xC3, 0xE2]

  private static func mutated(_ text: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
    var text = text
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let at = Int.random(in: 0...text.count, using: &random)
      let byte = intruders.randomElement(using: &random) ?? 0
      switch Int.random(in: 0..<4, using: &random) {
      case 0: text.insert(byte, at: at)
      case 1 where at < text.count: text.remove(at: at)
      case 2 where at < text.count: text[at] = byte
      default: text.removeSubrange(min(at, text.count)...)
      }
    }
    return text
  }
}
