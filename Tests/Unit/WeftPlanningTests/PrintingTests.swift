import TestSupport
import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftTestKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `Golden/Printing/<case>/workflow.json` and its printed forms, compared whole.
struct PrintingTests {
  static let cases = [
    "plain", "empty", "release", "orders", "names", "options", "control", "nested",
  ]

  static let files: [PlanFormat: String] = [
    .tree: "tree.txt", .table: "table.txt", .dot: "plan.dot", .mermaid: "plan.mmd",
    .json: "plan.json", .svg: "plan.svg",
  ]
  /// The page is the drawing in a frame, which needs no recording.
  static let recordedFormats = PlanFormat.allCases.filter { $0 != .html }

  @Test(arguments: cases, recordedFormats)
  func isPrintedAsRecorded(name: String, format: PlanFormat) throws {
    let plan = try goldenPlan(name)
    let golden = Golden("Golden/Printing/\(name)/\(PrintingTests.files[format]!)")
    let mismatch = golden.mismatch(with: plan.rendered(as: format))
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }

  @Test(arguments: ["release", "control", "nested"], recordedFormats)
  func printedPlanShowsEarlierDurations(name: String, format: PlanFormat) throws {
    let plan = try goldenPlan(name)
    // Every fourth step is new.
    let known = plan.steps.enumerated().filter { $0.offset % 4 != 3 }.map { index, step in
      let milliseconds = (index + 1) * (index + 1) * 37
      return DurationHistory.Entry(
        step.address.text, MeasuredStep(recent: [milliseconds * 1000], times: 1)!)
    }
    let golden = Golden("Golden/Printing/\(name)/durations-\(PrintingTests.files[format]!)")
    let text = plan.expecting(DurationHistory(known)).rendered(as: format)
    let mismatch = golden.mismatch(with: text)
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }

  @Test(
    "X57: without enough measurements the critical path is not known",
    arguments: [
      (["step1": 1000], "critical path not known: 2 steps never measured"),
      (
        ["step1": 0, "step2": 0, "step3": 0],
        "critical path not known: no step that will run has been measured"
      ),
      (
        ["step1": 1000, "step2": 1000],
        "critical path 3.0 s in earlier runs (1 step never measured): step1, step2, step3"
      ),
    ] as [([String: Int], String)])
  func theCriticalPathMayBeUnknown(measured: [String: Int], line: String) throws {
    let plan = try planned(Workflow(steps: (1...3).map { Step(StepID("step\($0)")!) }))
    let text = plan.expecting(history(measured.map { ($0.key, $0.value) })).rendered(as: .tree)
    #expect(
      String(decoding: text, as: UTF8.self).split(separator: "\n").last.map(String.init) == line)
  }

  @Test("X56: without a width nothing is shortened")
  func unlimitedWidth() throws {
    let command = String(repeating: "long ", count: 400)
    let plan = try planned(Workflow(steps: [Step("a", run: command)]))
    let style = PlanStyle(width: PlanStyle.unlimited)
    for format in [PlanFormat.tree, .table] {
      let text = String(decoding: plan.rendered(as: format, style: style), as: UTF8.self)
      #expect(text.contains(command.dropLast()), "\(format)")
    }
  }

  @Test func longCriticalPathIsShownInFourLines() throws {
    let plan = try planned(Workflow(steps: (1...99).map { Step(StepID("step\($0)")!) }))
    let known = (1...99).map { (key: "step\($0)", value: 1000) }
    let text = plan.expecting(history(known)).rendered(
      as: .table, style: PlanStyle(width: 40))
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").suffix(5)
    #expect(
      lines == [
        "critical path 1 m 39 s in earlier runs:",
        "  step1, step2, step3, step4, step5,",
        "  step6, step7, step8, step9, step10,", "  step11, step12, step13, step14,",
        "  and 85 more",
      ])
  }

  @Test(arguments: cases, [PlanFormat.tree, .table])
  func isPrintedInASCIIAndNarrow(name: String, format: PlanFormat) throws {
    let plan = try goldenPlan(name)
    let golden = Golden("Golden/Printing/\(name)/narrow-\(PrintingTests.files[format]!)")
    let text = plan.rendered(as: format, style: PlanStyle(width: 60, usesASCII: true))
    let mismatch = golden.mismatch(with: text)
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }

  @Test(arguments: cases)
  func thePageShowsTheDrawing(name: String) throws {
    let plan = try goldenPlan(name)
    let drawing = String(decoding: plan.rendered(as: .svg), as: UTF8.self)
    let page = String(decoding: plan.rendered(as: .html), as: UTF8.self)
    #expect(page.hasPrefix("<!DOCTYPE html>\n"))
    #expect(page.contains(drawing.split(separator: "\n", maxSplits: 1)[1]))
  }

  @Test("S20, O09: nothing that a terminal would obey is printed", arguments: PlanFormat.allCases)
  func namesAreHarmless(format: PlanFormat) throws {
    let scalars: [Unicode.Scalar] = (0..<0xA0).compactMap(Unicode.Scalar.init).filter {
      $0.value < 0x20 || $0.value > 0x7E
    }
    let nasty = scalars + ["\u{202E}", "\u{2066}", "\u{200B}", "\u{FEFF}", "\u{2028}"]
    for scalar in nasty {
      let text = "a\(scalar)b"
      // No program can receive a NUL, which is rejected.
      let passed = scalar == "\0" ? "ab" : text
      var step = Step("s", run: [passed, passed])
      step.name = text
      step.settings = CommandSettings(
        environment: [passed: passed], workingDirectory: passed, shell: Shell(prefix: [passed]))
      var group = Step(steps: [step, Step(run: passed)])
      group.name = text
      let moment = WallMoment(nanoseconds: 0, text: text)
      let idle = [Step(approve: text), Step(wait: .until(moment)).cleanup(Step(run: passed))]
      let plan = try planned(Workflow(name: text, steps: [group] + idle))
      let printed = String(decoding: plan.rendered(as: format), as: UTF8.self)
      let kept = printed.unicodeScalars.filter { $0 == scalar && $0 != "\n" }
      // JSON is exact, and escapes what RFC 8259 requires.
      let isExact = format == .json && scalar.value >= 0x7F
      #expect(kept.isEmpty != isExact, "U+\(String(scalar.value, radix: 16))")
    }
  }

  @Test func theTableListsStepsInTheOrderOfOneSlot() throws {
    let plan = try planned(
      Workflow(parallel: [Step("a", needs: ["c"]), Step("b"), Step("c"), Step("d", needs: ["a"])]))
    let lines = String(decoding: plan.rendered(as: .table), as: UTF8.self).split(separator: "\n")
    #expect(
      lines.dropFirst().dropLast().map { $0.split(separator: " ")[1] } == ["b", "c", "a", "d"])
  }

  @Test func aCharacterOfAnySizeIsCutInTime() throws {
    let zalgo = "a" + String(repeating: "\u{301}", count: 10 * largeCount)
    let plan = try planned(Workflow(steps: [Step(run: [zalgo]), Step(run: zalgo)]))
    for format in [PlanFormat.tree, .table, .dot, .mermaid, .svg, .html] {
      #expect(plan.rendered(as: format).count < 100_000)
    }
  }
}

/// The plan of a golden workflow, and of the files in its folder that it runs.
func goldenPlan(_ name: String) throws -> Plan {
  let files = WorkflowFiles { file in
    contents(of: Golden("Golden/Printing/\(name)/\(file)").path)
  }
  return try planned(try files.workflow("workflow.json"))
}

func contents(of path: String) -> [UInt8]? {
  guard let file = fopen(path, "rb") else { return nil }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
  return bytes
}
