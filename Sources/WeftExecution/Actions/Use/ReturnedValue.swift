import WeftDefinition
import WeftEvents
import WeftJSON

/// A value that an action has returned: it may be as large as the output of a program.
enum ReturnedValue {
  /// The status of the attempt.
  static func judged(
    _ value: JSONValue, limitBytes: Int = WorkflowLimits.valueBytes
  ) -> AttemptEnd.Status {
    var capacity = limitBytes
    return take(value, from: &capacity) ? .returned(value) : .failed(.returnedTooMuch)
  }

  /// Subtracts the bytes of a value as compact JSON, every character unescaped; stops when there is no room.
  private static func take(_ value: JSONValue, from capacity: inout Int) -> Bool {
    switch value {
    case .null, .bool(true): capacity -= 4
    case .bool(false): capacity -= 5
    case .number(let number): capacity -= number.text.utf8.count
    case .string(let text): capacity -= text.utf8.count + 2
    case .array(let elements):
      capacity -= 2 + max(0, elements.count - 1)
      for element in elements {
        guard capacity >= 0, take(element, from: &capacity) else { return false }
      }
    case .object(let members):
      capacity -= 2 + max(0, members.count - 1)
      for member in members {
        capacity -= member.key.utf8.count + 3
        guard capacity >= 0, take(member.value, from: &capacity) else { return false }
      }
    }
    return capacity >= 0
  }
}

extension StepFailure {
  static let returnedTooMuch = StepFailure(
    classes: [.output],
    message:
      "returned a value of more than \(ByteCount(WorkflowLimits.valueBytes)), which is the limit",
    help: "let the action write it to a file, and return the name of the file")
}
