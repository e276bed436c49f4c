import WeftDefinition

/// What there is of a result in expressions (SPEC §2).
package enum ResultShape: Sendable, Hashable {
  case step
  case group
  /// Of a group whose members race.
  case race
  /// Of a step that runs another file, whose steps have names there only.
  case workflow
  /// Of a step that runs an action of the embedding program; `json` is what that returned.
  case action
  /// Of a step that sends an HTTP request.
  case answer
  /// Of all that a `forEach` or `matrix` made of a step or group.
  case many

  package var fields: [StepField] {
    switch self {
    case .step:
      [
        .outcome, .conclusion, .exitCode, .signal, .stdout, .stderr, .json, .outputs, .attempts,
        .duration,
      ]
    case .group: [.outcome, .conclusion, .attempts, .duration, .outputs]
    case .race: [.outcome, .conclusion, .attempts, .duration, .outputs, .winner]
    case .workflow: [.outcome, .conclusion, .attempts, .duration, .outputs]
    case .action: [.outcome, .conclusion, .json, .outputs, .attempts, .duration]
    case .answer:
      [
        .outcome, .conclusion, .status, .headers, .body, .json, .stale, .outputs, .attempts,
        .duration,
      ]
    case .many: [.outcome, .conclusion, .attempts, .duration, .results]
    }
  }

  /// Whether `steps` of it names its members.
  var hasMembers: Bool { self == .group || self == .race }

  /// How messages call whose it is.
  var owner: String {
    switch self {
    case .step: "a step"
    case .group: "a group"
    case .race: "a race"
    case .workflow: "a step that runs another file"
    case .action: "a step that runs an action"
    case .answer: "a step that sends a request"
    case .many: "all elements"
    }
  }
}

extension Step {
  /// What is read of it from outside.
  package var resultShape: ResultShape {
    hasControl && control.fanOut != nil ? .many : ownResultShape
  }

  /// What is read of it as `self`, and of each of `results`.
  package var ownResultShape: ResultShape {
    switch action {
    case .group(let group): group.order == .race ? .race : .group
    case .run, .compute, .wait, .approve: .step
    case .workflow: .workflow
    case .use: .action
    case .http: .answer
    }
  }
}

/// What `results` have of each element beside what a result of its kind has.
package enum ElementField: String, Sendable, Hashable, CaseIterable {
  case key, index
}
