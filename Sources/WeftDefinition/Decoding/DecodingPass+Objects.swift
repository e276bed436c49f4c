import WeftDiagnostics
import WeftJSON

/// The result of reading an object besides its values.
struct ObjectReading {
  /// Whether there was an unknown key, which may be a misspelling of any other.
  var hasUnknownKey = false
  /// Whether a key that it must have was reported as missing.
  var isMissingKey = false
}

/// Objects, read by their tables.
extension DecodingPass {
  /// Finding a suggestion takes longer than all other work, and more of them help no reader.
  private static let mostSuggestions = 1000

  /// Reads the members of an object; reports unknown keys, and missing ones unless an unknown key may be one of them.
  @discardableResult
  mutating func read<Object: FormatObject>(
    _ node: JSONNode, _ field: Field, into object: inout Object
  ) -> ObjectReading {
    let format = Object.format
    var reading = ObjectReading()
    var seen: UInt64 = 0
    for member in node.members {
      let packed = packed(member.key)
      var index = format.index(of: packed)
      if index == nil, !packed.isIgnored {
        index = reportUnknown(member, in: Object.self)
        if index == nil { reading.hasUnknownKey = true }
      }
      guard let index else { continue }
      seen |= 1 << UInt64(index)
      let key = format.keys[index]
      guard object.admits(key.rule, member.key, &self) else { continue }
      key.read(&self, member, field.inner(key.rule.name), &object)
    }
    if format.required & ~seen != 0,
      !reading.hasUnknownKey || Object.reportsAllMissingKeys
    {
      reading.isMissingKey = true
      for (index, key) in format.keys.enumerated() where seen & 1 << UInt64(index) == 0 {
        guard let example = key.rule.example else { continue }
        report(
          .missingKey(path: path(field), key: key.rule.name, example: example), at: node)
      }
    }
    return reading
  }

  private func packed(_ key: JSONNode) -> PackedKey {
    key.isEscaped ? PackedKey((key.stringValue ?? "").utf8) : PackedKey(content(of: key))
  }

  /// Whether a key needs no report although it is unknown: it begins with `x-`.
  func isIgnored(_ key: JSONNode) -> Bool { packed(key).isIgnored }

  /// Reports an unknown key. Returns the index of the key as which it is read, if there is one.
  private mutating func reportUnknown<Object: FormatObject>(
    _ member: JSONMember, in object: Object.Type
  ) -> Int? {
    let name = member.key.stringValue ?? ""
    if let problem = Object.misplaced(name) {
      report(problem, at: member.key)
      return nil
    }
    let format = Object.format
    let rules = format.rules
    let nearest =
      diagnostics.count < DecodingPass.mostSuggestions ? KeyRule.nearest(to: name, in: rules) : nil
    report(.unknownKey(name, of: format.noun, rules, nearest: nearest), at: member.key)
    guard let nearest, let index = format.index(of: PackedKey(nearest.utf8)),
      rules[index].traits.reads(member.value.kind)
    else { return nil }
    return index
  }

  /// The member with this key, for a message about an object that was read.
  func member(_ name: String, of node: JSONNode) -> JSONMember? {
    node.members.first { $0.key.isString(equalTo: name) }
  }
}

extension KeyRule {
  /// The key that was probably meant.
  fileprivate static func nearest(to name: String, in rules: [KeyRule]) -> String? {
    for rule in rules where rule.synonyms.description.split(separator: " ").contains(name[...]) {
      return rule.name.description
    }
    // Nearly every two-letter word is one letter away from "id".
    guard name.count > 2 || name.lowercased() == "id" else { return nil }
    return NearestName(rules.map(\.name.description)).nearest(to: name)
  }
}

extension Diagnostic {
  fileprivate static func unknownKey(
    _ key: String, of noun: String, _ known: [KeyRule], nearest: String?
  ) -> Diagnostic {
    let listing = known.map(\.name.description).joined(separator: ", ")
    return Diagnostic(
      .unknownKey, "\(quoted(key)) is not a key of \(noun)",
      help: nearest.asSuggestion ?? "known keys are \(listing), and any that begin with x-")
  }

  static func missingKey(
    path: String, key: StaticString, example: StaticString
  ) -> Diagnostic {
    Diagnostic(
      .missingKey, "\(path) has no \"\(key)\", which is required", help: "write \(example)")
  }
}
