import Testing
import WeftDiagnostics
import WeftTestKit

@testable import WeftExpressions

/// Random texts: each is accepted or rejected, and ranges are valid.
struct MutationTests {
  private static let seeds = [
    "steps.a.outputs.x == 'y' && success()",
    "format('{0}-{1}', inputs['v w'], fromJSON('[1, {\"a\": 2}]')[1].a)",
    "!(a.*.b[0] || c[d['e']].f) != case(true, 1, -1.5e3)",
    "contains(join(split('a,b', ','), '+'), upper(lower(trim(' é '))))",
    "keys(fromJSON(toJSON(object))).*[0x1] >= Infinity",
    "replace('it''s', '''', '\"') < length(list) == hashFiles('**/*.x')",
    "map(sort(people, 'item.name'), 'filter(range(index), ''item > 1 || text == x'')')",
    "merge(fromEntries(entries(object)), first(slice(list, -2, 9))) && add(sum(list), max(1, 2))",
  ]

  private static let pieces = [
    "'", "''", "(", ")", "[", "]", ".", ",", "*", ".*", "!", "=", "==", "&&", "||", "<", ">=", "-",
    "+", "0x", "1e9", "NaN", "null", "true",
    "${{", "}}", " ", "\n", "\u{0}", "é", "\u{301}", "\u{1F600}", "\u{2028}", "success(", "case(",
    "format('{", "}", "{", "a", "[*]", "\\", "\"",
  ]

  private static func mutated(_ random: inout SeededGenerator) -> String {
    var scalars = Array(seeds.randomElement(using: &random)!.unicodeScalars)
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let at = Int.random(in: 0...scalars.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where at < scalars.count: scalars.remove(at: at)
      case 1:
        let end = min(scalars.count, at + Int.random(in: 0..<12, using: &random))
        scalars.insert(
          contentsOf: Array(scalars[at..<end]),
          at: Int.random(in: 0...scalars.count, using: &random))
      case 2:
        scalars.removeSubrange(at..<min(scalars.count, at + Int.random(in: 0..<6, using: &random)))
      default:
        scalars.insert(
          contentsOf: Array(pieces.randomElement(using: &random)!.unicodeScalars), at: at)
      }
    }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars)
    return String(text)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func everyTextIsReadOrRefused(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let scope = ValueScope(try contexts())
    var readCount = 0
    for _ in 0..<400 {
      let text = MutationTests.mutated(&random)
      if let expression = try? Expression.parse(text) {
        readCount += 1
        MutationTests.checkRanges(of: expression, in: text)
        _ = try? expression.evaluate(in: scope)
        _ = TypeChecker.check(expression, in: SampleTypes())
      } else {
        let fault = #expect(throws: ExpressionError.self) { try Expression.parse(text) }
        #expect(fault.map { MutationTests.isIn(text, $0) } == true, "\(text)")
      }
      MutationTests.checkTemplate(Template.parse("x\(text)y${{ \(text) }}"), scope)
    }
    #expect(readCount > 20)
  }

  /// Checks that the range of a part is within that of its parent, and that parsing the text of a part gives the same
  /// part.
  private static func checkRanges(of expression: Expression, in text: String) {
    expression.root.visit { node in
      for child in node.children {
        #expect(
          child.range.start >= node.range.start
            && child.range.end <= max(node.range.end, expression.range.end))
      }
      if case .reference(let reference) = node.form, !reference.text.contains("[''") {
        #expect(
          (try? Expression.parse(reference.text))?.references.first?.names.map(\.text)
            == reference.names.map(\.text))
      }
    }
    #expect(expression == (try? Expression.parse(expression.text)))
  }

  private static func isIn(_ text: String, _ fault: ExpressionError) -> Bool {
    fault.range.start <= fault.range.end && Int(fault.range.end) <= text.utf8.count
      && !fault.message.isEmpty
      && String(
        validating: Array(text.utf8)[Int(fault.range.start)..<Int(fault.range.end)], as: UTF8.self)
        != nil
  }

  private static func checkTemplate(_ template: Template, _ scope: ValueScope) {
    #expect(template.faults.allSatisfy { isIn(template.text, $0) })
    if template.faults.isEmpty {
      #expect(
        template.segments.map { pointedAt(template.text, $0.range) }.joined() == template.text)
    }
    for escaping in Escaping.allCases { _ = try? template.evaluate(in: scope, escaping: escaping) }
  }
}
