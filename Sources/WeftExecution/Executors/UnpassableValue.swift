import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftPlanning
import WeftPlatform

/// A value that the system cannot pass to a program, as an argument or in a variable. The failure names the
/// expression that it came from, since authors of the file do not know a `WEFT_VALUE_1`.
struct UnpassableValue {
  private enum Place {
    /// Counted from the program's name.
    case argument(Int)
    case variable(String)
  }

  private enum Fault {
    case tooLong(bytes: Int, limit: Int)
    case nul
  }

  /// The source of the value, in a text of the file.
  private struct Origin {
    let text: PlannedText
    let part: SourceRange
    let written: String

    init(_ expression: Expression, in text: PlannedText) {
      self.text = text
      part = expression.range
      written = "${{ \(shortened(expression.text)) }}"
    }

    /// Uses a text as a whole.
    init(_ text: PlannedText) {
      if let expression = text.template.onlyExpression {
        self = Origin(expression, in: text)
      } else {
        self.text = text
        part = SourceRange(start: 0, end: text.template.text.utf8.count)
        written = quoted(text.template.text)
      }
    }
  }

  private let place: Place
  private let fault: Fault

  /// `nil` if the obstacle is a different one.
  init?(_ obstacle: AttemptObstacle) {
    switch obstacle {
    case .notStarted(.argumentTooLong(let index, let size, let limit)):
      (place, fault) = (.argument(index), .tooLong(bytes: size, limit: limit))
    case .notStarted(.variableTooLong(let name, let size, let limit)):
      // The system counts NAME=VALUE.
      let own = name.utf8.count + 1
      (place, fault) = (.variable(name), .tooLong(bytes: size - own, limit: limit - own))
    case .notStarted(.nulInArgument(let index)): (place, fault) = (.argument(index), .nul)
    case .environment(.nulInValue(let name)): (place, fault) = (.variable(name), .nul)
    case .notStarted, .environment, .input, .log, .timedOut, .stalled: return nil
    }
  }

  /// `nil` if the value is literal in the file, or comes from elsewhere.
  func failure(of attempt: Attempt, in plan: Plan) -> StepFailure? {
    guard let origin = origin(in: attempt, plan) else { return nil }
    let place = plan.place(of: origin.part, in: origin.text).map { " (\($0))" } ?? ""
    switch fault {
    case .tooLong(let bytes, let limit):
      return StepFailure(
        classes: [.limit],
        message: "did not start: \(origin.written) comes to \(bytes) bytes,"
          + " and the system passes less than \(limit) \(vessel)\(place)",
        help: "hand it over by \"stdin\", or in a file that the program reads")
    case .nul:
      return StepFailure(
        classes: [.spawn],
        message: "did not start: \(origin.written) comes to a text with a NUL character in it,"
          + " and none can be passed \(vessel)\(place)",
        help: "hand such bytes over by \"stdin\" or in a file")
    }
  }

  private var vessel: String {
    switch place {
    case .argument: "in one argument"
    case .variable: "in one variable"
    }
  }

  private func origin(in attempt: Attempt, _ plan: Plan) -> Origin? {
    let texts = plan.values.texts(ofStep: attempt.index)
    switch place {
    case .argument(let index):
      let site = TextSite.argument(attempt.resolved.position(ofArgument: index))
      return texts.first { $0.site == site }.map { Origin($0) }
    case .variable(let name):
      if let script = texts.first(where: { $0.site == .script }),
        let value = plan.values.script(ofStep: attempt.index)?.variables.first(where: {
          $0.name == name
        })
      {
        return Origin(value.expression, in: script)
      }
      return layer(setting: name, around: attempt, texts, plan)
        .first { $0.site == .variable(name) }.map { Origin($0) }
    }
  }

  /// The texts of the innermost layer that sets the variable.
  private func layer(
    setting name: String, around attempt: Attempt, _ own: ArraySlice<PlannedText>, _ plan: Plan
  ) -> ArraySlice<PlannedText> {
    if attempt.step.settings.environment[name] != nil { return own }
    let group = plan.enclosingGroups(ofGroup: attempt.step.group).first {
      plan.settings(ofGroup: $0).environment[name] != nil
    }
    return group.map { plan.values.texts(ofGroup: $0) } ?? []
  }
}
