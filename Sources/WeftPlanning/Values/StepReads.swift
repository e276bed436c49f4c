/// The parts of a step's result that expressions read.
package struct StepReads: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Like `isEmpty`, but without dispatch through the protocol: called for every step.
  package var areNone: Bool { rawValue == 0 }

  /// Its outcome or its outputs.
  package static let result = StepReads(rawValue: 1)
  /// Its standard output or response body, as text or as JSON.
  package static let stdout = StepReads(rawValue: 2)
  package static let stderr = StepReads(rawValue: 4)
  /// A member of `results`: the other options apply to each element.
  package static let elements = StepReads(rawValue: 8)
  /// The protocol's own version builds an empty set at run time, and this is called for every step.
  package var isEmpty: Bool { rawValue == 0 }

  package static let everything: StepReads = [.result, .stdout, .stderr, .elements]
}

/// The members of results in expressions; see ``ResultShape``.
package enum StepField: String, Sendable, Hashable, CaseIterable {
  case outcome, conclusion, exitCode, signal, stdout, stderr, json, outputs, attempts, duration
  case winner, results
  case status, headers, body, stale

  /// The word between a group's name and that of a member.
  package static let members = "steps"

  package var reads: StepReads {
    switch self {
    case .stdout, .json, .body: .stdout
    case .stderr: .stderr
    case .outcome, .conclusion, .exitCode, .signal, .outputs, .attempts, .duration, .winner,
      .status, .headers, .stale:
      .result
    case .results: .everything
    }
  }
}

/// The members of `run` in expressions.
package enum RunField: String, Sendable, Hashable, CaseIterable {
  case id, attempt, dir
}

/// The members of `workflow` in expressions.
package enum WorkflowField: String, Sendable, Hashable, CaseIterable {
  case name, file
}

/// The contexts of expressions.
package enum ValueContext: String, Sendable, Hashable, CaseIterable {
  case inputs, env, secrets, steps
  case itself = "self"
  case item, index, matrix
  case run, workflow
}
