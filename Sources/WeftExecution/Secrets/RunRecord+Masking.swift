package import WeftEvents
import WeftJSON

/// Masks the records of the journal. A value that contains a secret is omitted as a whole and recorded as
/// secret, because a resumed run would take a masked value for the real one.
extension RunRecord.Kind {
  /// The record with its secrets masked; events in it must have been masked before.
  func masked(by mask: SecretMask) -> RunRecord.Kind {
    switch self {
    case .event(let event, let values) where !values.isEmpty:
      .event(event, keeping: values.masked(by: mask))
    case .listed(let address, let elements): .listed(address, elements.masked(by: mask))
    case .opened(let opening): .opened(opening.masked(by: mask))
    case .event, .spawned, .kept, .groupSkipped, .outdated, .waiting: self
    }
  }
}

extension RecordOpening {
  /// The opening without inputs and arguments that contain a secret: resuming requires these inputs again, and is
  /// refused for arguments.
  package func masked(by mask: SecretMask) -> RecordOpening {
    var opening = self
    opening.workflow = workflow.map(mask.masked)
    opening.inputs = inputs.map { input in
      // A literal `nil` would be JSON's null.
      mask.reveals(input.value) ? ReportedOutput(name: input.name, value: .none) : input
    }
    // The state that a resumed run reads again.
    opening.state = state.filter { !mask.reveals($0.value) }
    if arguments.contains(where: { mask.contains($0.utf8) }) {
      opening.arguments = []
      opening.withholdsArguments = true
    }
    return opening
  }
}

extension RecordedValues {
  fileprivate func masked(by mask: SecretMask) -> RecordedValues {
    var kept = self
    kept.stdout = stdout?.masked(by: mask)
    kept.stderr = stderr?.masked(by: mask)
    kept.returned = returned?.masked(by: mask)
    if var answer {
      answer.headers = answer.headers.masked(by: mask)
      answer.body = answer.body?.masked(by: mask)
      answer.collected = answer.collected?.masked(by: mask)
      kept.answer = answer
    }
    kept.files = files.filter { !mask.contains($0.path.utf8) }
    return kept
  }
}

extension RecordedText {
  fileprivate func masked(by mask: SecretMask) -> RecordedText {
    guard case .text(let text) = self, mask.contains(text.utf8) else { return self }
    return .secret
  }
}

extension RecordedValue {
  fileprivate func masked(by mask: SecretMask) -> RecordedValue {
    guard case .value(let value) = self, mask.reveals(value) else { return self }
    return .secret
  }
}

extension RecordedElements {
  fileprivate func masked(by mask: SecretMask) -> RecordedElements {
    guard !isSecret,
      elements.contains(where: { mask.contains($0.key.utf8) || mask.reveals($0.value) })
    else { return self }
    return RecordedElements(
      elements: elements.indices.map { Element(key: String($0), value: .none) }, isSecret: true,
      stepCount: stepCount)
  }
}

extension SecretMask {
  /// Whether a value contains a secret: in its texts, its names, or its JSON text.
  func reveals(_ value: JSONValue?) -> Bool {
    guard let value, !isEmpty else { return false }
    return contains(value.description.utf8) || value.hasText { contains($0.utf8) }
  }
}

extension JSONValue {
  fileprivate func hasText(_ condition: (String) -> Bool) -> Bool {
    switch self {
    case .null, .bool, .number: false
    case .string(let text): condition(text)
    case .array(let elements): elements.contains { $0.hasText(condition) }
    case .object(let object):
      object.members.contains { condition($0.key) || $0.value.hasText(condition) }
    }
  }
}
