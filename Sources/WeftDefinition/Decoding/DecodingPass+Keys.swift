import WeftJSON

extension DecodingPass {
  /// To look for what was meant takes longer than all the rest; nobody reads so many suggestions.
  private static let mostSuggestions = 1000

  /// The key of a member; `nil` for one to pass over, which is told unless it is ignored.
  mutating func key<Key: ObjectKey>(of member: JSONMember, in owner: KeyOwner) -> Key? {
    let packed = packed(member.key)
    if let known = Key.table[packed] { return known }
    if packed.isIgnored { return nil }
    return reportUnknown(member, in: owner)
  }

  /// The key of a member, where it is known; tells nothing.
  func known<Key: ObjectKey>(_ key: JSONNode) -> Key? { Key.table[packed(key)] }

  private func packed(_ key: JSONNode) -> PackedKey {
    key.isEscaped ? PackedKey((key.stringValue ?? "").utf8) : PackedKey(content(of: key))
  }

  /// Whether a key that was passed over is none of ours to tell: it begins with `x-`.
  func isIgnored(_ key: JSONNode) -> Bool { packed(key).isIgnored }

  /// Tells an unknown key. One that was certainly meant as another, and on which the graph hangs, is
  /// read as that other key: its steps and ids are known, and nobody who needs them is blamed.
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

  /// Whether the graph hangs on `key` and a value of this kind can be its value.
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
