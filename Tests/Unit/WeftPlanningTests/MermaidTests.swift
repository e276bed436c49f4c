import Testing
import WeftDefinition
import WeftPlanning

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

struct MermaidTests {
  /// Uses a small strict reader of the printed lines; see below for the real grammar.
  @Test(arguments: PrintingTests.cases)
  func isWellFormedAndSaysWhatThePlanSays(name: String) throws {
    let plan = try goldenPlan(name)
    let chart = try Flowchart(String(decoding: plan.rendered(as: .mermaid), as: UTF8.self))
    let boxes = Set(plan.steps.map(\.node) + plan.groups.dropFirst().map(\.startNode))
    #expect(Set(chart.parents.keys) == boxes)
    for step in plan.steps {
      #expect(chart.parents[step.node] == plan.groups[step.group].startNode)
    }
    for edge in chart.edges {
      #expect(boxes.contains(edge.from) && boxes.contains(edge.to))
    }
    #expect(Set(chart.edges).count == chart.edges.count)
  }

  @Test func aLabelSaysWhatWasWritten() throws {
    let texts =
      (0x20..<0x7F).map { "\(Character(Unicode.Scalar(UInt8($0))))x" } + [
        "end", "%%{init: {}}%%", "`md`", "style a:#b;", "1. one", "www.example.org", "ﬂ°°35¶ß",
        "日本語", "&lt;b&gt;", "#35;", "a.b. c", "\"",
      ]
    for text in texts {
      var step = Step(run: "x")
      step.name = text
      let plan = try planned(Workflow(steps: [step]))
      let chart = try Flowchart(String(decoding: plan.rendered(as: .mermaid), as: UTF8.self))
      #expect(chart.labels[0] == text + "<br/>x")
    }
  }

  /// Uses Mermaid's own parser, under node: `WEFT_MERMAID` names the `parser.bundle.js` in the wheel of
  /// `mermaid-parser-py` from PyPI.
  @Test(
    .enabled(if: getenv("WEFT_MERMAID") != nil && isInstalled("node"), "WEFT_MERMAID is not set"),
    arguments: PrintingTests.cases)
  func mermaidItselfAcceptsIt(name: String) throws {
    let plan = try goldenPlan(name)
    let script = """
      require(process.env.WEFT_MERMAID)(require("fs").readFileSync(0, "utf8")).then(
        text => { const d = JSON.parse(text).graph_data
          console.log(d.edges.map(e => `${e.start} --> ${e.end}`).join(" ")) },
        error => console.log("rejected: " + error))
      """
    let edges = try output(of: "node -e '\(script)' 2>&1", reading: plan.rendered(as: .mermaid))
    let printed = String(decoding: plan.rendered(as: .mermaid), as: UTF8.self)
    let lines = printed.replacing(" -.-> ", with: " --> ").split(separator: "\n").filter {
      $0.contains(" --> n") && !$0.contains("[")
    }
    #expect(edges == lines.map { $0.drop { $0 == " " } }.joined(separator: " ") + "\n")
  }
}

/// Reads exactly the part of Mermaid's flowchart grammar that is printed, and nothing else.
private struct Flowchart {
  struct Edge: Hashable {
    var from: Int
    var to: Int
  }

  struct Failure: Error {
    var line: Substring
  }

  /// The subgraph around each box and subgraph; -1 at the top level.
  private(set) var parents: [Int: Int] = [:]
  private(set) var labels: [Int: String] = [:]
  private(set) var edges: [Edge] = []

  init(_ text: String) throws {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.removeFirst() == "flowchart TD", lines.removeLast() == "" else {
      throw Failure(line: "the first or the last line")
    }
    var open: [Int] = []
    for line in lines {
      let code = line.drop { $0 == " " }
      if code == "end" {
        guard open.popLast() != nil else { throw Failure(line: line) }
      } else if let match = code.wholeMatch(
        of: #/(subgraph )?n(\d+)(?:\["([^"\[\]]*)"\]|\[\["([^"\[\]]*)"\]\])/#)
      {
        let node = Int(match.2)!
        guard parents.updateValue(open.last ?? -1, forKey: node) == nil else {
          throw Failure(line: line)
        }
        labels[node] = try decoded(match.3 ?? match.4 ?? "")
        if match.1 != nil { open.append(node) }
      } else if let match = code.wholeMatch(of: #/n(\d+) (?:-->|-\.->) n(\d+)/#) {
        edges.append(Edge(from: Int(match.1)!, to: Int(match.2)!))
      } else {
        throw Failure(line: line)
      }
    }
    guard open.isEmpty else { throw Failure(line: "a subgraph that does not end") }
  }

  /// The label with its entities resolved; nothing else that Mermaid would interpret may remain.
  private func decoded(_ label: Substring) throws -> String {
    var lines = label.split(separator: "<br/>", omittingEmptySubsequences: false)
    var order: Substring = ""
    let kind = #/ \((steps|parallel|race|[a-z]+\.json)(, at least \d+)?\)$/#
    if let match = lines[0].firstMatch(of: kind) {
      order = match.0
      lines[0] = lines[0][..<match.range.lowerBound]
    }
    var texts = try lines.map { try decoded(line: $0) }
    texts[0] += order
    return texts.joined(separator: "<br/>")
  }

  private func decoded(line: Substring) throws -> String {
    guard !line.starts(with: #/[-+= ]|\d+\. /#), !line.contains("www.") else {
      throw Failure(line: line)
    }
    var text = ""
    var rest = line
    while let start = rest.firstIndex(of: "#") {
      guard let end = rest[start...].firstIndex(of: ";") else { throw Failure(line: line) }
      let name = rest[start..<end].dropFirst()
      text += try plain(rest[..<start])
      text.unicodeScalars.append(name == "quot" ? "\"" : Unicode.Scalar(UInt32(name)!)!)
      rest = rest[end...].dropFirst()
    }
    return try text + plain(rest)
  }

  private func plain(_ text: Substring) throws -> Substring {
    let special: Set<Character> = [
      ";", "&", "<", ">", "`", "*", "_", "~", "|", "\\", "%", "{", "}", "(", ")", "!", ":", "$",
      "^",
    ]
    guard !text.contains(where: special.contains) else { throw Failure(line: text) }
    return text
  }
}
