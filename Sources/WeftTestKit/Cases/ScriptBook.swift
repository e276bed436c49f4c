import WeftDefinition
import WeftPlanning

/// The scripted results of a run, by address. An exact address comes before a pattern; of several patterns the first
/// one counts, and those of the innermost layer come first.
struct ScriptBook: Sendable {
  private struct Layer: Sendable {
    var exact: [String: StepScript] = [:]
    var patterns: [(pattern: StepPattern, script: StepScript)] = []
  }

  private let layers: [Layer]

  /// - Parameter layers: From the innermost.
  init(_ layers: [[StepScript]]) {
    self.layers = layers.map { scripts in
      var layer = Layer()
      for script in scripts {
        let pattern = StepPattern(script.pattern.value)
        if pattern.isExact {
          layer.exact[pattern.text] = layer.exact[pattern.text] ?? script
        } else {
          layer.patterns.append((pattern, script))
        }
      }
      return layer
    }
  }

  /// The script of a step; `nil` if there is none.
  func script(of step: StepAddress) -> StepScript? { place(of: step)?.script }

  /// Whether the script of a step is in the innermost layer.
  func isReset(_ step: StepAddress) -> Bool { place(of: step)?.layer == 0 }

  private func place(of step: StepAddress) -> (script: StepScript, layer: Int)? {
    for (index, layer) in layers.enumerated() {
      if let script = layer.exact[step.text] { return (script, index) }
    }
    for (index, layer) in layers.enumerated() {
      if let match = layer.patterns.first(where: { $0.pattern.matches(step) }) {
        return (match.script, index)
      }
    }
    return nil
  }
}
