/// What expressions read of a step.
package struct StepReads: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// As `isEmpty`, without a detour by the protocol: asked of every step.
  package var areNone: Bool { rawValue == 0 }

  /// How it ended, or its outputs.
  package static let result = StepReads(rawValue: 1)
  /// What it wrote to its standard output, or was answered, as text or as JSON.
  package static let stdout = StepReads(rawValue: 2)
  package static let stderr = StepReads(rawValue: 4)
  /// Something of `results`: of each element is kept what the others say.
  package static let elements = StepReads(rawValue: 8)
  /// The protocol's own one asks at run time what an empty set is, and this is asked of every step.
  package var isEmpty: Bool { rawValue == 0 }

  package static let everything: StepReads = [.result, .stdout, .stderr, .elements]
}

/// What results have in expressions; see ``ResultShape``.
package enum StepField: String, Sendable, Hashable, CaseIterable {
  case outcome, conclusion, exitCode, signal, stdout, stderr, json, outputs, attempts, duration
  case winner, results
  case status, headers, body, stale

  /// What follows a group's name before that of a member.
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

/// What `run` has in expressions.
package enum RunField: String, Sendable, Hashable, CaseIterable {
  case id, attempt, dir
}

/// What `workflow` has in expressions.
package enum WorkflowField: String, Sendable, Hashable, CaseIterable {
  case name, file
}

/// Where expressions find values.
package enum ValueContext: String, Sendable, Hashable, CaseIterable {
  case inputs, env, secrets, steps
  case itself = "self"
  case item, index, matrix
  case run, workflow
}
