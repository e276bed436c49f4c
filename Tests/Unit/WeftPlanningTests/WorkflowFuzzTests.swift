import TestSupport
import Testing
import WeftDefinition
import WeftDiagnostics
import WeftReporting
import WeftTestKit

@testable import WeftPlanning

/// Workflow files with random contents.
@Suite struct WorkflowFuzzTests {
  private static let words = [
    "{", "}", "[", "]", "\"", ":", ",", "null", "true", "-1", "1e999", "\\ud800", "\u{0}", "${{",
    "}}",
    "${{ steps.a.outputs.x }}", "${{ inputs.n }}", "${{ secrets.s }}", "\"steps\":",
    "\"parallel\":",
    "\"race\":", "\"needs\":", "\"if\":", "\"forEach\":", "\"matrix\":", "\"retry\":", "\"pools\":",
    "\"cleanup\":", "\"finally\":", "\"http\":", "\"workflow\":", "\"cache\":", "\"wait\":",
    "\"approve\":", "\"env\":", "\"timeout\":", "\"id\":\"a\"", "\"1h\"",
    "\"join\":{\"atLeast\":1}",
  ]

  /// The files of other tests, both valid and invalid.
  private static var seeds: [[UInt8]] {
    let folders = [
      "../WeftDefinitionTests/Cases/accepted", "../WeftDefinitionTests/Cases/rejected",
      "../WeftDefinitionTests/Cases/rejected-beyond-schema", "../../../workflows",
    ]
    return folders.flatMap { folder in
      let path = Golden(folder).path
      return Golden.names(in: path).filter { $0.hasSuffix(".json") }.sorted().compactMap {
        Golden("\(folder)/\($0)").read()
      }
    }.filter { $0.count < 16 << 10 }
  }

  @Test func errorsOfOneStepHideNoneOfAnother() {
    for seed in WorkflowFuzzTests.seeds {
      let decoded = WorkflowDecoder.decode(SourceFile(path: "workflow.json", bytes: seed))
      guard var workflow = decoded.workflow else { continue }
      workflow.body.members.append(Step("unrelated-step", run: "x", needs: ["no-such-step"]))
      let hasErrors = decoded.diagnostics.contains(where: \.isError)
      let (_, found) = Planner.plan(workflow, actions: nil, afterErrors: hasErrors)
      let isReported = found.contains { $0.message.contains("no-such-step") }
      #expect(isReported || !hasErrors, "\(String(decoding: seed, as: UTF8.self))")
    }
  }

  @Test(.hangLimit) func noFileBringsTheReaderDown() {
    var fuzzer = Fuzzer(
      corpus: "Corpus", seeds: WorkflowFuzzTests.seeds, words: WorkflowFuzzTests.words)
    let report = fuzzer.run(making: isLong ? 4_000 : 400) { bytes in
      let file = SourceFile(path: "workflow.json", bytes: bytes)
      let (workflow, decoding) = WorkflowDecoder.decode(file)
      var words = Set(decoding.map(\.code.description))
      #expect(workflow != nil || decoding.contains(where: \.isError))
      #expect(decoding.allSatisfy { isInside($0, file) })
      _ = DiagnosticText().rendered(DiagnosticCollection(decoding))
      guard let workflow else { return words }
      let (plan, planning) = Planner.plan(workflow)
      words.formUnion(planning.map(\.code.description))
      #expect((plan == nil) == planning.contains(where: \.isError))
      #expect(planning.allSatisfy { isInside($0, file) })
      _ = DiagnosticText().rendered(DiagnosticCollection(planning))
      if let plan {
        words.insert("planned")
        // Each node comes after its dependencies.
        var place = [Int](repeating: 0, count: plan.nodes.count)
        for (index, node) in plan.topologicalOrder.enumerated() { place[Int(node)] = index }
        for node in plan.nodes.indices {
          #expect(plan.dependencies[node].allSatisfy { place[Int($0)] < place[node] })
        }
      }
      return words
    }
    print("\(report.examined) files, \(report.kept) kept, \(report.words.count) behaviours")
    #expect(report.words.contains("planned") && report.words.count > 60)
  }

  private func isInside(_ diagnostic: Diagnostic, _ file: SourceFile) -> Bool {
    ([diagnostic.place] + diagnostic.related.map(\.place)).allSatisfy { place in
      guard let place else { return true }
      return place.range.start <= place.range.end && Int(place.range.end) <= file.bytes.count
    }
  }
}
