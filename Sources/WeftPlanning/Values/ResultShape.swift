import WeftDefinition

/// The members of a result in expressions (SPEC §2).
package enum ResultShape: Sendable, Hashable {
  case step
  case group
  /// The result of a group whose members race.
  case race
  /// The result of a step that runs another file, whose steps have names only in that file.
  case workflow
  /// The result of a step that runs an action of the embedding program; `json` is the value that it returned.
  case action
  /// The result of a step that sends an HTTP request.
  case answer
  /// The result of all elements of a step or group with a loop.
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

  /// Whether its `steps` names members.
  var hasMembers: Bool { self == .group || self == .race }

  /// The name of its owner in messages.
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
  /// The shape of its result, as read from outside.
  package var resultShape: ResultShape {
    hasControl && control.fanOut != nil ? .many : ownResultShape
  }

  /// The shape of its result as `self`, and of each of `results`.
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

/// The additional members of each element in `results`.
package enum ElementField: String, Sendable, Hashable, CaseIterable {
  case key, index
}
