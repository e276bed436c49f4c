import Testing
import WeftPlanning

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Graphviz's own reading of the DOT form. Skipped if `dot` is not installed.
@Suite(.enabled(if: isInstalled("dot"), "graphviz is not installed: no dot on the PATH"))
struct GraphvizTests {
  @Test(arguments: PrintingTests.cases)
  func acceptsThePlanWithoutAWord(name: String) throws {
    let plan = try goldenPlan(name)
    let svg = try output(of: "dot -Tsvg 2>&1", reading: plan.rendered(as: .dot))
    #expect(svg.hasPrefix("<?xml") && svg.hasSuffix("</svg>\n"))
    #expect(!svg.contains("Warning") && !svg.contains("Error"))
  }

  @Test func showsNastyNamesAsTheyAre() throws {
    let plan = try goldenPlan("names")
    let svg = try output(of: "dot -Tsvg", reading: plan.rendered(as: .dot))
    let shown = [
      "\"quoted\" <b>&amp; \\N \\x1b[31mred\\u{202e}der",
      "echo \"a\\nb\" | sed 's/a/b/' # <i>no</i> …",
      "- `x` **y** _z_ 1. [l](u) {{m}} %%{init}%% #35; www.example.org", "]\") --> x",
      "\\ (steps)", "https://example.org/?a=b&c=d;--x", "日本語の名前はとても長くて切られるかもしれません (parallel)",
    ]
    let texts = texts(in: svg)
    for text in shown { #expect(texts.contains(text), "\(text)") }
  }

  @Test func drawsEachStepEachGroupAndTheEdgesBetweenThem() throws {
    let plan = try goldenPlan("release")
    let svg = try output(of: "dot -Tsvg", reading: plan.rendered(as: .dot))
    let classes = svg.split(separator: "\n").compactMap { line in
      ["node", "cluster", "edge"].first { line.contains("class=\"\($0)\"") }
    }
    #expect(classes.count { $0 == "node" } == plan.steps.count)
    #expect(classes.count { $0 == "cluster" } == plan.groups.count - 1)
    // build → checks → publish → tag, unit and checks → report → tag, and one inside each group.
    #expect(classes.count { $0 == "edge" } == 8)
  }

  /// The contents of all text elements, with XML's entities resolved.
  private func texts(in svg: String) -> [String] {
    svg.split(separator: "<text").dropFirst().map { element in
      let content = element.split(separator: ">", maxSplits: 1)[1].split(separator: "</text")[0]
      return ["&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&#45;": "-"]
        .reduce(String(content)) {
          $0.split(separator: $1.key, omittingEmptySubsequences: false).joined(separator: $1.value)
        }
        .split(separator: "&amp;", omittingEmptySubsequences: false).joined(separator: "&")
    }
  }
}

/// Whether a program of this name is on the PATH.
func isInstalled(_ program: String) -> Bool { system("command -v \(program) >/dev/null 2>&1") == 0 }

/// The output of a shell command that reads `input`.
func output(of command: String, reading input: [UInt8]) throws -> String {
  var path = Array("/tmp/weft-planning-XXXXXX".utf8CString)
  let descriptor = mkstemp(&path)
  try #require(descriptor >= 0)
  let name = String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  defer { unlink(name) }
  try #require(write(descriptor, input, input.count) == input.count)
  close(descriptor)
  let pipe = try #require(popen("{ \(command); } < \(name)", "r"))
  defer { pclose(pipe) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 { bytes += chunk[..<count] }
  return String(decoding: bytes, as: UTF8.self)
}
