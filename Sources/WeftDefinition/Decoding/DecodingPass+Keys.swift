import WeftJSON

extension DecodingPass {
  /// Finding a suggestion takes longer than all other work, and more of them help no reader.
  private static let mostSuggestions = 1000

  /// The key of a member; `nil` if it is unknown, which is reported unless the key is ignored.
  mutating func key<Key: ObjectKey>(of member: JSONMember, in owner: KeyOwner) -> Key? {
    let packed = packed(member.key)
    if let known = Key.table[packed] { return known }
    if packed.isIgnored { return nil }
    return reportUnknown(member, in: owner)
  }

  /// The key of a member, if it is known; reports nothing.
  func known<Key: ObjectKey>(_ key: JSONNode) -> Key? { Key.table[packed(key)] }

  private func packed(_ key: JSONNode) -> PackedKey {
    key.isEscaped ? PackedKey((key.stringValue ?? "").utf8) : PackedKey(content(of: key))
  }

  /// Whether a key needs no report although it is unknown: it begins with `x-`.
  func isIgnored(_ key: JSONNode) -> Bool { packed(key).isIgnored }

  /// Reports an unknown key. If it is clearly a misspelling of a key on which the graph depends, it
  /// is read as that key: its steps and ids are then known, and steps that need them are not reported.
  private mutating func reportUnknown<Key: ObjectKey>(
    _ member: JSONMember, in owner: KeyOwner
  ) -> Key? {
    let name = member.key.stringValue ?? ""
    if owner == .workflow && StepKey(rawValue: name) != nil {
      report(.stepKeyOfWorkflow(name), at: member.key)
      return nil
    }
    if owner == .step && WorkflowKey(rawValue: name) != nil {
      report(.workflowKeyOfStep(name), at: member.key)
      return nil
    }
    let nearest = diagnostics.count < DecodingPass.mostSuggestions ? owner.nearest(to: name) : nil
    report(.unknownKey(name, of: owner, nearest: nearest), at: member.key)
    guard let nearest, DecodingPass.isPart(of: nearest, member.value.kind) else { return nil }
    return Key(rawValue: nearest)
  }

  /// Whether the graph depends on `key` and a value of this kind can be its value.
  private static func isPart(of key: String, _ kind: JSONKind) -> Bool {
    switch key {
    case "id": kind == .string
    case "run": kind == .string || kind == .array
    case "needs", "steps", "parallel", "race", "finally": kind == .array
    case "workflow", "use": kind == .string
    default: false
    }
  }
}
