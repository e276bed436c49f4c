import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftJSON

/// A duration in a message: in the units of the file, in whole milliseconds.
func shown(_ duration: Duration) -> String {
  let (seconds, attoseconds) = duration.components
  if seconds == 0, attoseconds == 0 { return "0s" }
  let isShort = seconds == 0 && attoseconds < 1_000_000_000_000_000
  return isShort ? "less than 1ms" : DurationText.text(of: duration)
}

/// A value in a message.
func shown(_ value: JSONValue) -> String {
  if case .string(let text) = value { return quoted(text) }
  return shortened(value.description)
}

extension DurationBounds {
  var text: String {
    switch (atLeast, atMost) {
    case (let least?, let most?) where least == most: shown(least)
    case (let least?, let most?): "\(shown(least)) to \(shown(most))"
    case (let least?, nil): "at least \(shown(least))"
    case (nil, let most?): "at most \(shown(most))"
    case (nil, nil): "any duration"
    }
  }
}

extension JSONValue {
  /// Whether the values are equal but for the order of members and the spelling of numbers.
  func isSame(as other: JSONValue) -> Bool {
    switch (self, other) {
    case (.array(let one), .array(let two)):
      return one.count == two.count && zip(one, two).allSatisfy { $0.isSame(as: $1) }
    case (.object(let one), .object(let two)):
      return one.members.count == two.members.count
        && one.members.allSatisfy { member in
          two[member.key].map { member.value.isSame(as: $0) } ?? false
        }
    default: return self == other
    }
  }
}

extension SkipReason {
  /// Its name in expectations.
  var word: String {
    switch self {
    case .dependencyFailed: "dependencyFailed"
    case .heldBack: "heldBack"
    case .condition: "condition"
    case .notSelected: "notSelected"
    case .cancelled(let reason): reason.word
    }
  }

  var sentence: String {
    switch self {
    case .dependencyFailed(let step): "dependencyFailed: \"\(step)\""
    case .heldBack(let step): "heldBack by \"\(step)\""
    case .condition(let step): "condition of \"\(step)\""
    case .notSelected: "notSelected"
    case .cancelled(let reason): "cancelled: \(reason.word)"
    }
  }
}

extension CancelReason {
  /// Its name in expectations.
  var word: String {
    switch self {
    case .requested: "requested"
    case .filesChanged: "filesChanged"
    case .signal: "signal"
    case .runTimeout: "runTimeout"
    case .groupTimeout: "groupTimeout"
    case .failure: "failure"
    case .raceWon: "raceWon"
    case .joined: "joined"
    case .recordLost: "recordLost"
    }
  }
}
