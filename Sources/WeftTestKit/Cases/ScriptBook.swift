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

  /// The script of a step in the innermost layer.
  func innermost(of step: StepAddress) -> StepScript? {
    layers.first.flatMap { layer in
      layer.exact[step.text] ?? layer.patterns.first { $0.pattern.matches(step) }?.script
    }
  }

  /// The script of a step; `nil` if there is none.
  func script(of step: StepAddress) -> StepScript? {
    for layer in layers { if let script = layer.exact[step.text] { return script } }
    for layer in layers {
      if let match = layer.patterns.first(where: { $0.pattern.matches(step) }) {
        return match.script
      }
    }
    return nil
  }
}
