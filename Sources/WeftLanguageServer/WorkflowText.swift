package import Weft
import WeftDefinition
package import WeftDiagnostics
import WeftJSON

/// The result of checking a document: everything that is wrong with it, and the plan of a workflow that is accepted.
package struct CheckedDocument {
  let plan: Plan?
  let diagnostics: [Diagnostic]

  package init(_ workflow: CheckedWorkflow) {
    plan = workflow.plan
    diagnostics = workflow.diagnostics
  }

  /// - Parameter diagnostics: Those of a file that is no workflow.
  package init(_ diagnostics: [Diagnostic]) {
    plan = nil
    self.diagnostics = diagnostics
  }

  /// The document with other problems, made from its own.
  package func reporting(_ problems: ([Diagnostic]) -> [Diagnostic]) -> CheckedDocument {
    CheckedDocument(plan: plan, diagnostics: problems(diagnostics))
  }

  private init(plan: Plan?, diagnostics: [Diagnostic]) {
    (self.plan, self.diagnostics) = (plan, diagnostics)
  }
}

/// An open document, read as a workflow: what the answers about it are made from. A changed document is another text.
struct WorkflowText {
  let document: OpenDocument
  /// `nil` if too little of it is JSON.
  let root: JSONNode?
  let outline: WorkflowOutline?
  let guide: SchemaGuide
  private var known: CheckedDocument?

  init(_ document: OpenDocument) {
    self.document = document
    root = JSONReader.read(document.source).root
    let isTest = document.isTestFile
    guide = isTest ? .test : .workflow
    outline = isTest ? nil : root.map { WorkflowOutline($0, SchemaGuide.workflow) }
  }

  /// Whether it is neither a workflow nor a test, by its name, its folder and its keys. Editors open a server for all
  /// JSON files. One without keys may become a workflow.
  var isForeign: Bool {
    let path = document.path ?? document.uri
    if document.isTestFile || WorkflowFileName.isWorkflow(path) { return false }
    guard let root, root.kind == .object else { return true }
    let keys = root.members.map { $0.key.stringValue ?? "" }
    if let schema = root.members.first(where: { $0.key.isString("$schema") })?.value.stringValue,
      schema.hasSuffix("workflow.schema.json") || schema.hasSuffix("test.schema.json")
    {
      return false
    }
    return !keys.isEmpty && !keys.contains { StepGroup.Order(rawValue: $0) != nil }
  }

  /// The result of the check, which is done once.
  mutating func checked(
    by check: LanguageServer.Check, _ openTexts: [String: [UInt8]]
  ) -> CheckedDocument {
    if let known { return known }
    let checked = check(document.source, document.path, openTexts)
    known = checked
    return checked
  }

  var plan: Plan? { known?.plan }

  // MARK: Formatting

  /// One edit of the whole text; none if it is formatted, `null` if it is not JSON.
  var formatted: JSONValue {
    guard let text = JSONFormatter.format(document.source).text else { return .null }
    if text == document.source.bytes { return [] }
    return [
      ["range": document.wholeRange, "newText": .string(String(decoding: text, as: UTF8.self))]
    ]
  }

  // MARK: Symbols

  /// The steps and groups that have an id, inner within outer.
  var symbols: JSONValue {
    guard let outline else { return [] }
    var steps = outline.declarations.filter { $0.kind == .step }[...]
    return .array(symbols(&steps, depth: 0))
  }

  private func symbols(
    _ steps: inout ArraySlice<WorkflowOutline.Declaration>, depth: Int
  ) -> [JSONValue] {
    var found: [JSONValue] = []
    while let step = steps.first, step.depth >= depth {
      steps.removeFirst()
      var symbol: JSONObject = [
        "name": .string(step.name), "kind": 12, "range": document.range(step.node.range),
        "selectionRange": document.range(step.range),
      ]
      let members = symbols(&steps, depth: step.depth + 1)
      if !members.isEmpty { symbol["children"] = .array(members) }
      found.append(.object(symbol))
    }
    return found
  }
}

extension Diagnostic {
  /// A `Diagnostic` of the protocol. A problem of another file is shown at the start of the document.
  func protocolValue(in document: OpenDocument, _ encoding: PositionEncoding) -> JSONValue {
    let isHere = place.map { $0.file == document.source } ?? true
    var text = message
    if let place, !isHere {
      let position = place.file.position(of: Int(place.range.start))
      text = "\(place.file.path):\(position.line):\(position.column): \(text)"
    }
    if let help { text += "\nhelp: \(help)" }
    var value: JSONObject = [
      "range": isHere
        ? document.range(place?.range ?? SourceRange(start: 0, end: 0)) : document.range(0..<0),
      "severity": severity == .error ? 1 : severity == .warning ? 2 : 3,
      "code": .string(code), "source": "weft", "message": .string(text),
    ]
    let others = related.compactMap { related -> JSONValue? in
      guard let place = related.place else { return nil }
      let isHere = place.file == document.source
      guard let path = isHere ? document.uri : FileURI.absolute(place.file.path) else { return nil }
      return [
        "location": [
          "uri": .string(path), "range": place.file.range(place.range, encoding),
        ],
        "message": .string(related.message),
      ]
    }
    if !others.isEmpty { value["relatedInformation"] = .array(others) }
    return .object(value)
  }
}

extension FileURI {
  /// The URI of an absolute path; `nil` for any other.
  static func absolute(_ path: String) -> String? { path.hasPrefix("/") ? uri(of: path) : nil }
}

/// The place of an offset in a JSON text.
struct TextCursor {
  enum PathStep: Hashable {
    case key(String)
    case element(Int)
  }

  enum Target {
    case key(JSONMember)
    case value(JSONNode)
    /// Within this object or array, beside its contents.
    case between(JSONNode)
  }

  /// The way from the root to the target: of a key to its object, of a value to itself.
  private(set) var path: [PathStep] = []
  /// The objects and arrays around the target, outermost first.
  private(set) var containers: [JSONNode] = []
  private(set) var target: Target

  init(_ root: JSONNode, at offset: Int) {
    target = .value(root)
    var node = root
    while node.kind == .object || node.kind == .array, node.surrounds(offset) {
      containers.append(node)
      guard let next = descend(into: node, offset) else { return }
      node = next
      target = .value(node)
    }
  }

  /// Moves to the key or value at the offset; `nil` if it is a key, or beside the contents.
  private mutating func descend(into node: JSONNode, _ offset: Int) -> JSONNode? {
    for member in node.members {
      if member.key.reaches(offset) {
        target = .key(member)
        return nil
      }
      if member.value.reaches(offset), member.value.range.start >= member.key.range.end {
        path.append(.key(member.key.stringValue ?? ""))
        return member.value
      }
    }
    for (index, element) in node.elements.enumerated() where element.reaches(offset) {
      path.append(.element(index))
      return element
    }
    target = .between(node)
    return nil
  }

  /// The key whose value is to be written at the offset, which is beside the members of an object.
  func keyAwaitingValue(at offset: Int) -> JSONMember? {
    guard case .between(let node) = target else { return nil }
    return node.members.first { member in
      let end = Int(member.key.range.end)
      guard end <= offset else { return false }
      let rest = node.document.bytes[end..<offset].filter { !JSONNode.isSpace($0) }
      return rest == [UInt8(ascii: ":")]
    }
  }
}

extension JSONNode {
  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }

  /// Whether the offset is within the value, or at one of its ends.
  func reaches(_ offset: Int) -> Bool {
    Int(range.start) <= offset && offset <= Int(range.end) && range.start < range.end
  }

  /// Whether the offset is between the brackets.
  func surrounds(_ offset: Int) -> Bool { Int(range.start) < offset && offset < Int(range.end) }
}
