import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftJSON
package import WeftPlanning

/// The difference between the workflows of two runs, by step and by key of its definition.
package struct DefinitionDifference: Sendable, Hashable {
  /// A part of a definition with another value, by its path: `run`, `env.CC`.
  package struct Key: Sendable, Hashable {
    package let path: String
    /// The values as JSON, without secrets; `nil` if the key is not there.
    package let before: String?
    package let after: String?
  }

  /// A step or group with another definition.
  package struct Member: Sendable, Hashable {
    package let address: StepAddress
    package let keys: [Key]
    /// The settings around it that changed and affect it, by their keys.
    package let surroundings: [String]
  }

  /// Whether the files of the runs have different bytes.
  package var hasOtherBytes = false
  /// Whether both workflows could be read, so that the rest says what differs.
  package var isKnown = true
  /// The paths of nested files that differ, or that only one of the runs has, sorted.
  package var files: [String] = []
  /// The keys of the workflow itself that differ.
  package var workflow: [String] = []
  package var changed: [Member] = []
  package var added: [StepAddress] = []
  package var removed: [StepAddress] = []

  package var isEmpty: Bool { !hasOtherBytes && files.isEmpty }

  /// Whether the files differ, but no step, group or key does: in layout, or in the order of steps.
  package var isOfLayoutOnly: Bool {
    hasOtherBytes && isKnown && files.isEmpty && workflow.isEmpty && changed.isEmpty
      && added.isEmpty && removed.isEmpty
  }

  init(from old: ReportedRun, to new: ReportedRun) {
    let (before, after) = (old.recorded.lastOpening, new.recorded.lastOpening)
    files = DefinitionDifference.changedFiles(before?.nested ?? [], after?.nested ?? [])
    hasOtherBytes = before?.hash != after?.hash
    // Workflows built in Swift have neither bytes nor a plan in their record.
    if before?.hash != nil, !hasOtherBytes { return }
    guard let from = old.definition, let to = new.definition else {
      isKnown = false
      return
    }
    compare(from, to) { new.mask.masked(old.mask.masked($0)) }
  }

  /// Compares two plans, without hiding anything in values.
  package init(from old: Plan, to new: Plan) { compare(old, new) { $0 } }

  private static func changedFiles(_ old: [RecordedFile], _ new: [RecordedFile]) -> [String] {
    let hashes = { (files: [RecordedFile]) in
      Dictionary(files.map { ($0.path, $0.hash) }, uniquingKeysWith: { first, _ in first })
    }
    let (before, after) = (hashes(old), hashes(new))
    return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
  }

  private mutating func compare(_ old: Plan, _ new: Plan, _ hide: (String) -> String) {
    let kept = old.memberNames.intersection(new.memberNames)
    workflow = DefinitionKeys(ofWorkflow: old, naming: kept)
      .changes(to: DefinitionKeys(ofWorkflow: new, naming: kept), hide)
      .map { $0.path.prefixUpToDot }
      .reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    let difference = PlanDifference(from: old, to: new)
    (added, removed) = (difference.added, difference.removed)
    let wereChanged = Set(difference.changed)
    let before = Dictionary(
      old.members(naming: kept).map { ($0.address, $0.keys) },
      uniquingKeysWith: { first, _ in first })
    for (address, keys) in new.members(naming: kept) {
      guard let known = before[address] else { continue }
      let own = known.changes(to: keys, hide)
      let written = Set(own.map { $0.path.prefixUpToDot })
      let around = (difference.surroundings[address] ?? []).filter { !written.contains($0) }
      guard !own.isEmpty || wereChanged.contains(address) else { continue }
      changed.append(Member(address: address, keys: own, surroundings: around))
    }
  }
}

/// The keys of a step, group or workflow as its file has them. Of those that hold other steps, which are compared by
/// themselves, only the ids of the members that both plans have: their order, and the members that were moved.
private struct DefinitionKeys {
  private let value: JSONValue

  private static let bodies: Set<String> = ["steps", "parallel", "race", "cleanup", "finally"]

  init(ofWorkflow plan: Plan, naming kept: Set<String>) {
    self.init(plan.workflow.source.value?.bytes[...] ?? [], kept)
  }

  init(_ step: Step?, in file: SourceFile?, naming kept: Set<String>) {
    guard let file, let range = step?.place.value?.step else {
      self.init([], kept)
      return
    }
    let end = min(Int(range.end), file.bytes.count)
    self.init(file.bytes[min(Int(range.start), end)..<end], kept)
  }

  private init(_ text: ArraySlice<UInt8>, _ kept: Set<String>) {
    let (root, _) = JSONReader.read(SourceFile(path: "", bytes: Array(text)), beside: nil)
    switch root.map({ JSONValue($0) }) {
    case .object(let members):
      var known = JSONObject()
      for member in members {
        known[member.key] =
          DefinitionKeys.bodies.contains(member.key)
          ? DefinitionKeys.outline(of: member.value, kept) : member.value
      }
      value = .object(known)
    // A step that is only its command.
    case let command?: value = ["run": command]
    case nil: value = [:]
    }
  }

  private static func outline(of body: JSONValue, _ kept: Set<String>) -> JSONValue {
    guard case .array(let members) = body else { return [] }
    return .array(
      members.filter { member in
        guard case .string(let id)? = member["id"] else { return false }
        return kept.contains(id)
      }.compactMap { $0["id"] })
  }

  func changes(
    to new: DefinitionKeys, _ hide: (String) -> String
  ) -> [DefinitionDifference.Key] {
    var found: [DefinitionDifference.Key] = []
    DefinitionKeys.compare(value, new.value, at: "", hide, &found)
    return found
  }

  private static func compare(
    _ old: JSONValue?, _ new: JSONValue?, at path: String, _ hide: (String) -> String,
    _ found: inout [DefinitionDifference.Key]
  ) {
    if old == new { return }
    if case .object(let before)? = old, case .object(let after)? = new {
      var keys = after.map(\.key)
      keys += before.map(\.key).filter { after[$0] == nil }
      for key in keys {
        compare(before[key], after[key], at: path.isEmpty ? key : "\(path).\(key)", hide, &found)
      }
      return
    }
    found.append(
      DefinitionDifference.Key(
        path: hide(path), before: old.map { $0.hiding(hide).description },
        after: new.map { $0.hiding(hide).description }))
  }
}

extension JSONValue {
  /// The value with all its texts, keys included, changed; secrets are found before JSON escapes their characters.
  func hiding(_ hide: (String) -> String) -> JSONValue {
    switch self {
    case .string(let text): return .string(hide(text))
    case .array(let elements): return .array(elements.map { $0.hiding(hide) })
    case .object(let members):
      var hidden = JSONObject()
      for member in members { hidden[hide(member.key)] = member.value.hiding(hide) }
      return .object(hidden)
    case .number:
      let text = description
      let shown = hide(text)
      return shown == text ? self : .string(shown)
    case .null, .bool: return self
    }
  }
}

extension String {
  fileprivate var prefixUpToDot: String { String(prefix { $0 != "." }) }
}

extension Plan {
  /// The steps, then the groups, with their keys, each in the order of the plan.
  fileprivate func members(
    naming kept: Set<String>
  ) -> [(address: StepAddress, keys: DefinitionKeys)] {
    steps.map { ($0.address, DefinitionKeys($0.step, in: file(ofGroup: $0.group), naming: kept)) }
      + groups.compactMap { group in
        // The body of a nested file has the address of the step that runs it, which is a group of its own.
        guard let address = group.address, group.step != nil, !group.isTopLevel else { return nil }
        return (
          address,
          DefinitionKeys(group.step, in: files[group.file].workflow.source.value, naming: kept)
        )
      }
  }

  /// The ids of steps and groups, without those of the steps that run their files.
  fileprivate var memberNames: Set<String> {
    let addresses = steps.map(\.address) + groups.compactMap(\.address)
    return Set(addresses.map { String($0.text.split(separator: "/").last ?? "") })
  }

  private func file(ofGroup group: Int) -> SourceFile? {
    files[groups[group].file].workflow.source.value
  }
}
