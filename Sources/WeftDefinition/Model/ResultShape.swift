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
        .outcome, .conclusion, .status, .headers, .body, .json, .stale, .pages, .outputs,
        .attempts, .duration,
      ]
    case .many: [.outcome, .conclusion, .attempts, .duration, .results]
    }
  }

  /// Whether its `steps` names members.
  package var hasMembers: Bool { self == .group || self == .race }

  /// The name of its owner in messages.
  package var owner: String {
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
  package var resultShape: ResultShape { withUnsafePointer(to: self) { $0.resultShape } }

  /// The shape of its result as `self`, and of each of `results`.
  package var ownResultShape: ResultShape { withUnsafePointer(to: self) { $0.ownResultShape } }
}

/// The shapes of a step's result, read where it is stored: other modules copy a step to call its own properties.
extension UnsafePointer<Step> {
  package var resultShape: ResultShape {
    pointee.hasControl && pointee.control.fanOut != nil ? .many : ownResultShape
  }
  package var ownResultShape: ResultShape { pointee.action.kind.rules.result }
}

/// The additional members of each element in `results`.
package enum ElementField: String, Sendable, Hashable, CaseIterable {
  case key, index
}

/// The parts of a step's result that expressions read.
package struct StepReads: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Nothing is read, as of most steps. The literal `[]` would be built by generic code at run time.
  package init() { rawValue = 0 }
  /// Its outcome or its outputs.
  package static let result = StepReads(rawValue: 1)
  /// Its standard output or response body, as text or as JSON.
  package static let stdout = StepReads(rawValue: 2)
  package static let stderr = StepReads(rawValue: 4)
  /// A member of `results`: the other options apply to each element.
  package static let elements = StepReads(rawValue: 8)
  /// These reads, noted also as reads by other steps and groups.
  package var byOthers: StepReads { union(StepReads(rawValue: rawValue << StepReads.width)) }

  /// All reads.
  package var all: StepReads { StepReads(rawValue: rawValue & (1 << StepReads.width - 1)) }

  /// The reads that are noted as those of others.
  package var ofOthers: StepReads { StepReads(rawValue: rawValue >> StepReads.width) }

  private static let width: UInt8 = 4

  /// The protocol's own version builds an empty set at run time, and this is called for every step.
  package var isEmpty: Bool { rawValue == 0 }

  package static let everything: StepReads = [.result, .stdout, .stderr, .elements]
}

/// The members of results in expressions; see ``ResultShape``.
package enum StepField: String, Sendable, Hashable, CaseIterable {
  case outcome, conclusion, exitCode, signal, stdout, stderr, json, outputs, attempts, duration
  case winner, results
  case status, headers, body, stale, pages

  /// The word between a group's name and that of a member.
  package static let members = "steps"

  /// Whether only a program, a request or a registered action can give it a value.
  var isOfProgram: Bool {
    switch self {
    case .stdout, .stderr, .json, .exitCode, .signal, .body: true
    case .outcome, .conclusion, .outputs, .attempts, .duration, .winner, .results, .status,
      .headers, .stale, .pages:
      false
    }
  }

  package var reads: StepReads {
    switch self {
    case .stdout, .json, .body: .stdout
    case .stderr: .stderr
    case .outcome, .conclusion, .exitCode, .signal, .outputs, .attempts, .duration, .winner,
      .status, .headers, .stale, .pages:
      .result
    case .results: .everything
    }
  }
}
