/// Steps in layers, each needing some of the layer before.
struct StepGraph {
  let name: String
  let steps: Int
  let layers: Int
  let edges: Int
  /// Whether a shell runs each step, as ninja always does.
  var isScript = false

  var width: Int { steps / layers }

  /// The dependencies of a step.
  func needs(of step: Int) -> [Int] {
    let layer = step / width
    guard layer > 0 else { return [] }
    return (0..<min(edges, width)).map { edge in
      (layer - 1) * width + (step + edge * 7) % width
    }.sorted()
  }

  /// The workflow: a list of steps for a chain, else a graph by `needs`.
  var workflow: String {
    if width == 1 { return #"{"steps":["# + list { _ in "" } + "]}" }
    return #"{"parallel":["#
      + list { step in
        let needs = needs(of: step).map { "\"s\($0)\"" }.joined(separator: ",")
        return needs.isEmpty ? "" : #","needs":["# + needs + "]"
      } + "]}"
  }

  private func list(_ needs: (Int) -> String) -> String {
    let run = isScript ? #""/bin/true""# : #"["/bin/true"]"#
    return (0..<steps).map { #"{"id":"s\#($0)","run":\#(run)\#(needs($0))}"# }
      .joined(separator: ",\n")
  }

  var ninja: String {
    "rule t\n  command = /bin/true\n"
      + (0..<steps).map { step in
        let needs = needs(of: step).map { " s\($0)" }.joined()
        return "build s\(step): t\(needs)\n"
      }.joined()
  }

  var makefile: String {
    let names = (0..<steps).map { "s\($0)" }.joined(separator: " ")
    return "all: \(names)\n.PHONY: all \(names)\n"
      + (0..<steps).map { step in
        "s\(step):" + needs(of: step).map { " s\($0)" }.joined() + "\n\t@/bin/true\n"
      }.joined()
  }
}
