import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftJSON

/// The names that a workflow file declares, and the places that refer to them, as far as its text can be read.
struct WorkflowOutline {
  enum Kind: String, CaseIterable {
    case step, input, state, secret, pool, runner

    /// The reference to the definition of its names, in the schema.
    var definition: String { "#/$defs/\(rawValue)Name" }

    /// The key of the workflow that declares the names; `nil` for ids of steps.
    var section: String? {
      switch self {
      case .step: nil
      case .state: "state"
      case .input, .secret, .pool, .runner: rawValue + "s"
      }
    }

    /// The spelling by which names are compared.
    fileprivate func folded(_ name: String) -> String {
      switch self {
      case .step, .pool, .runner: name
      case .input, .state, .secret: InputName.folded(name)
      }
    }

    func isSame(_ name: String, as other: String) -> Bool { folded(name) == folded(other) }
  }

  struct Declaration {
    let kind: Kind
    let name: String
    /// The range of the name, without quotes.
    let range: Range<Int>
    /// The step, or the declaration of the input, the state or the secret.
    let node: JSONNode
    /// For a step: the number of steps around it.
    let depth: Int
  }

  struct Reference {
    let kind: Kind
    let name: String
    /// The range of the name, without quotes.
    let range: Range<Int>
  }

  /// In file order.
  private(set) var declarations: [Declaration] = []
  private(set) var references: [Reference] = []
  private let guide: SchemaGuide

  /// The keys of steps and workflows that hold steps.
  private static let memberKeys = ["steps", "parallel", "race", "finally", "cleanup"]

  init(_ root: JSONNode, _ guide: SchemaGuide) {
    self.guide = guide
    for kind in Kind.allCases {
      guard let names = kind.section.flatMap({ root.member(named: $0) }) else { continue }
      for member in names.members {
        declarations.append(
          Declaration(
            kind: kind, name: member.key.stringValue ?? "", range: member.key.contentRange,
            node: member.value, depth: 0))
      }
    }
    addMembers(of: root, depth: 0)
    addReferences(in: root, at: NamingKeys.Place())
    declarations.sort { $0.range.lowerBound < $1.range.lowerBound }
  }

  func declaration(of name: String, _ kind: Kind) -> Declaration? {
    declarations.first { $0.kind == kind && kind.isSame($0.name, as: name) }
  }

  // MARK: Steps

  /// The depth to which steps are read.
  static let depthLimit = 64

  private mutating func addMembers(of node: JSONNode, depth: Int) {
    guard depth < WorkflowOutline.depthLimit else { return }
    for (_, members) in WorkflowOutline.members(of: node) {
      for member in members where member.kind == .object { addStep(member, depth: depth) }
    }
  }

  /// The steps that a workflow or step holds, by the key of each list.
  static func members(of node: JSONNode) -> [(key: String, members: [JSONNode])] {
    node.members.compactMap { member -> (key: String, members: [JSONNode])? in
      guard let key = member.key.stringValue, memberKeys.contains(key) else { return nil }
      return (key, member.value.kind == .array ? Array(member.value.elements) : [member.value])
    }
  }

  private mutating func addStep(_ node: JSONNode, depth: Int) {
    if let id = node.member("id"), let name = id.stringValue {
      declarations.append(
        Declaration(kind: .step, name: name, range: id.contentRange, node: node, depth: depth))
    }
    addMembers(of: node, depth: depth + 1)
  }

  // MARK: References

  private mutating func addReferences(in node: JSONNode, at place: NamingKeys.Place) {
    let kind = guide.namingKeys.kinds[place]
    switch node.kind {
    case .object:
      for member in node.members {
        if let kind { addReference(kind, member.key) }
        addReferences(in: member.value, at: place.member(member.key.stringValue ?? ""))
      }
    case .array:
      for element in node.elements { addReferences(in: element, at: place) }
    case .string:
      if let kind { return addReference(kind, node) }
      addReferences(inText: node, isCondition: guide.conditionKeys.contains(place.key))
    case .null, .bool, .number, .unreadable: break
    }
  }

  private mutating func addReference(_ kind: Kind, _ node: JSONNode) {
    guard let name = node.stringValue else { return }
    references.append(Reference(kind: kind, name: name, range: node.contentRange))
  }

  private mutating func addReferences(inText node: JSONNode, isCondition: Bool) {
    guard let text = node.stringValue else { return }
    let template = isCondition ? Template.parse(condition: text) : Template.parse(text)
    for reference in template.expressions.flatMap(\.references) {
      for (before, name) in zip(reference.names, reference.names.dropFirst()) {
        guard let kind = kind(after: before, in: reference) else { continue }
        references.append(
          Reference(kind: kind, name: name.text, range: range(of: name, in: text, node)))
      }
    }
  }

  private func kind(after name: ContextReference.Name, in reference: ContextReference) -> Kind? {
    let isFirst = name.range == reference.names[0].range
    if isFirst, reference.isOfContext("inputs") { return .input }
    if isFirst, reference.isOfContext("state") { return .state }
    if isFirst, reference.isOfContext("secrets") { return .secret }
    // Members of a group: steps.GROUP.steps.MEMBER.
    let isOfSteps = reference.isOfContext("steps") || reference.isOfContext("self")
    return isOfSteps && name.text == "steps" ? .step : nil
  }

  /// The range of a name in the file, without the quotes of `['name']`.
  private func range(of name: ContextReference.Name, in text: String, _ node: JSONNode) -> Range<
    Int
  > {
    var (start, end) = (Int(name.range.start), Int(name.range.end))
    if Array(text.utf8)[start] == UInt8(ascii: "'") {
      start += 1
      end -= 1
    }
    return node.sourceOffset(ofUTF8: start)..<node.sourceOffset(ofUTF8: end)
  }
}
