import WeftDiagnostics
import WeftJSON

/// A part of `multipart` while its keys are read.
struct PartDraft: FormatObject {
  /// Its index among the parts, by which its texts are known.
  let index: Int
  var part: HTTPCall.Part
  /// The key of its content.
  var content: JSONNode?
  var fileName: JSONNode?

  static let schema: StaticString = #"""
    {"oneOf": [{"required": ["value"]}, {"required": ["file"]}],
    "dependentRequired": {"fileName": ["file"]}}
    """#

  static let format = ObjectFormat<PartDraft>("a part of \"multipart\"") {
    FormatKey("value", "Text", schema: #"{"type": "string"}"#, synonyms: "text content") {
      pass, member, field, draft in
      draft.begin(member.key, &pass)
      let text = pass.requestText(
        member.value, field, .part(draft.part.name, draft.index), wanted: nil)
      draft.part.content = .text(text ?? "")
    }
    FormatKey(
      "file", "File",
      "The path of a file, relative to the step's directory.",
      schema: #"{"type": "string", "minLength": 1}"#, synonyms: "path"
    ) { pass, member, field, draft in
      draft.begin(member.key, &pass)
      let path = pass.requestText(
        member.value, field, .partFile(draft.part.name, draft.index), wanted: "the path of a file")
      draft.part.content = .file(path ?? "")
    }
    FormatKey(
      "fileName",
      "File name",
      "The file name sent to the server. Default: that of the file.",
      schema: #"{"type": "string", "minLength": 1}"#, synonyms: "filename name"
    ) {
      pass, member, field, draft in
      draft.fileName = member.key
      draft.part.fileName = pass.requestText(
        member.value, field, .partFileName(draft.part.name, draft.index),
        wanted: "the name of a file")
    }
    FormatKey(
      "contentType", "Media type", "The media type of the part.",
      schema: #"{"type": "string", "minLength": 1, "examples": ["image/png"]}"#,
      synonyms: "type mimeType"
    ) {
      pass, member, field, draft in
      draft.part.contentType = pass.requestText(
        member.value, field, .partType(draft.part.name, draft.index),
        wanted: "a media type like \"image/png\"")
    }
  }

  init(_ name: String, at index: Int) {
    self.index = index
    part = HTTPCall.Part(name, .text(""))
  }

  mutating func begin(_ key: JSONNode, _ pass: inout DecodingPass) {
    if content != nil { pass.report(.severalContents, at: key) }
    content = key
  }
}

/// Bodies of a request, and its names and values.
extension DecodingPass {
  /// Reads any value; the names in it are literal.
  mutating func jsonBody(_ node: JSONNode, _ field: Field) -> HTTPCall.Body? {
    recordLocations(of: node, ValuePath(), field)
    return node.kind == .unreadable ? nil : .json(JSONValue(node))
  }

  private mutating func recordLocations(of node: JSONNode, _ path: ValuePath, _ field: Field) {
    switch node.kind {
    case .string: texts.append(TextPlace(.http(.json(path)), at: node.range))
    case .array:
      for (index, element) in node.elements.enumerated() {
        recordLocations(of: element, path.appending(.element(index)), field)
      }
    case .object:
      for member in node.members {
        let name = member.key.stringValue ?? ""
        if name.hasExpression {
          report(.expressionInName(path: "\(self.path(field))\(path)"), at: member.key)
        }
        recordLocations(of: member.value, path.appending(.property(name)), field)
      }
    case .null, .bool, .number, .unreadable: break
    }
  }

  mutating func parts(_ node: JSONNode, _ field: Field) -> [HTTPCall.Part]? {
    guard
      isObject(
        node, field, wanted: "an object of names and parts",
        help: "write { \"title\": \"Cat\", \"photo\": { \"file\": \"cat.png\" } }")
    else { return nil }
    var parts: [HTTPCall.Part] = []
    for member in node.members {
      guard let name = fieldName(member.key, field, of: "part") else { continue }
      for value in member.values {
        if let part = part(value, field.member(member.key), named: name, at: parts.count) {
          parts.append(part)
        }
      }
    }
    return parts
  }

  private mutating func part(
    _ node: JSONNode, _ field: Field, named name: String, at index: Int
  ) -> HTTPCall.Part? {
    switch node.kind {
    case .object: return objectPart(node, field, named: name, at: index)
    case .number, .bool: return HTTPCall.Part(name, .text(node.sourceText))
    default:
      return requestText(node, field, .part(name, index), wanted: nil)
        .map { HTTPCall.Part(name, .text($0)) }
    }
  }

  private mutating func objectPart(
    _ node: JSONNode, _ field: Field, named name: String, at index: Int
  ) -> HTTPCall.Part? {
    var draft = PartDraft(name, at: index)
    read(node, field, into: &draft)
    guard draft.content != nil else {
      report(.partWithoutContent(path: path(field)), at: node)
      return nil
    }
    if case .text = draft.part.content, let fileName = draft.fileName {
      report(.keyOfPartOfText("fileName"), at: fileName)
    }
    return draft.part
  }

  // MARK: Texts

  /// Reads a text. With `wanted`, which describes it in messages, it must not be empty.
  ///
  /// Its location is kept even without expressions: planning checks the text.
  mutating func requestText(
    _ node: JSONNode, _ field: Field, _ site: HTTPSite, wanted: String? = nil
  ) -> String? {
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: wanted ?? "a string",
        help: site == .body && (node.kind == .object || node.kind == .array)
          ? "write it as \"json\"; \"body\" is a text"
          : node.kind == .number || node.kind == .bool ? "write \"\(node.sourceText)\"" : nil)
      return nil
    }
    let text = node.stringValue ?? ""
    if let wanted, text.isEmpty {
      report(.empty(path: path(field), wanted: wanted), at: node)
      return nil
    }
    texts.append(TextPlace(.http(site), at: node.range))
    return text
  }

  /// Reads names and values; an array gives one name several values.
  fileprivate mutating func requestFields(
    _ node: JSONNode, _ field: Field, of what: String, _ site: (String, Int) -> HTTPSite
  ) -> [HTTPCall.Field]? {
    guard
      isObject(
        node, field, wanted: "an object of names and values",
        help: "write { \"name\": \"value\" }")
    else { return nil }
    var fields: [HTTPCall.Field] = []
    for member in node.members {
      guard let name = fieldName(member.key, field, of: what) else { continue }
      for value in member.values {
        guard let text = fieldValue(value, field.member(member.key), site(name, fields.count))
        else { continue }
        fields.append(HTTPCall.Field(name, text))
      }
    }
    return fields
  }

  private mutating func fieldName(_ node: JSONNode, _ field: Field, of what: String) -> String? {
    let name = node.stringValue ?? ""
    if name.hasExpression {
      report(.expressionInName(path: path(field)), at: node)
      return nil
    }
    guard !name.isEmpty else {
      report(.noName(path: path(field), of: what), at: node)
      return nil
    }
    return name
  }

  private mutating func fieldValue(
    _ node: JSONNode, _ field: Field, _ site: HTTPSite
  ) -> String? {
    switch node.kind {
    case .string: return requestText(node, field, site)
    case .number, .bool: return node.sourceText
    case .null, .array, .object:
      report(.notAField(path: path(field), found: node.noun), at: node)
      return nil
    case .unreadable: return nil
    }
  }
}

extension ValueFormat<[HTTPCall.Field]> {
  static func requestFields(
    of what: String, _ site: @escaping @Sendable (String, Int) -> HTTPSite
  ) -> ValueFormat {
    ValueFormat { $0.requestFields($1, $2, of: what, site) }
  }
}

extension JSONMember {
  /// The values of the name: the elements of an array, or the one value.
  fileprivate var values: [JSONNode] { value.kind == .array ? Array(value.elements) : [value] }
}

extension Diagnostic {
  static func partWithoutContent(path: String) -> Diagnostic {
    Diagnostic(
      .missingKey, "\(path) has neither \"value\" nor \"file\", expected one of them",
      help: "write { \"file\": \"photo.png\" }, or a string")
  }

  static var severalContents: Diagnostic {
    Diagnostic(.severalActions, "found both \"value\" and \"file\", expected one of them")
  }

  static func keyOfPartOfText(_ key: String) -> Diagnostic {
    Diagnostic(
      .keysApart, "\"\(key)\" is only for parts that are files, but this part is text",
      help: "write \"file\" instead of \"value\"")
  }

  static func expressionInName(path: String) -> Diagnostic {
    Diagnostic(
      .expression, "a name in \(path) contains an expression, which is not allowed",
      help: "expressions are only allowed in values")
  }

  static func noName(path: String, of what: String) -> Diagnostic {
    Diagnostic(.empty, "a name in \(path) is empty, expected the name of a \(what)")
  }

  static func notAField(path: String, found: String) -> Diagnostic {
    Diagnostic(
      .wrongType,
      "\(path) is \(found), expected a string, a number, true, false, or an array of these",
      help: "${{ toJSON(…) }} turns any value into a string")
  }
}
