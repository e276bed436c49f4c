import WeftDiagnostics
import WeftJSON

/// `json` and `multipart`: bodies with parts.
extension DecodingPass {
  /// Reads any value; the names in it are literal.
  mutating func jsonBody(_ node: JSONNode) -> HTTPCall.Body {
    keepPlaces(of: node, ValuePath())
    return node.kind == .unreadable ? .none : .json(JSONValue(node))
  }

  private mutating func keepPlaces(of node: JSONNode, _ path: ValuePath) {
    switch node.kind {
    case .string: texts.places.append(TextPlace(.http(.json(path)), at: node.range))
    case .array:
      for (index, element) in node.elements.enumerated() {
        keepPlaces(of: element, path.appending(.element(index)))
      }
    case .object:
      for member in node.members {
        let name = member.key.stringValue ?? ""
        if name.hasExpression {
          report(
            .http(.expressionInName(path: "\(self.path(Field("http.json")))\(path)")),
            at: member.key)
        }
        keepPlaces(of: member.value, path.appending(.property(name)))
      }
    case .null, .bool, .number, .unreadable: break
    }
  }

  mutating func parts(_ node: JSONNode) -> [HTTPCall.Part] {
    let key: StaticString = "http.multipart"
    guard node.kind == .object else {
      reportType(
        of: node, Field(key), wanted: "an object of names and parts",
        help: "write { \"title\": \"Cat\", \"photo\": { \"file\": \"cat.png\" } }")
      return []
    }
    var parts: [HTTPCall.Part] = []
    for member in node.members {
      guard let name = fieldName(member.key, key, of: "part") else { continue }
      let values = member.value.kind == .array ? Array(member.value.elements) : [member.value]
      for value in values {
        let field = Field(key, member: member.key)
        if let part = part(value, field, named: name, at: parts.count) { parts.append(part) }
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
    var part = HTTPCall.Part(name, .text(""))
    var content: JSONNode?
    var isText = false
    var fileName: JSONNode?
    for member in node.members {
      guard let key: PartKey = key(of: member, in: .part) else { continue }
      switch key {
      case .value, .file:
        if content != nil { report(.http(.severalContents), at: member.key) }
        content = member.key
        isText = key == .value
        let site: HTTPSite = isText ? .part(name, index) : .partFile(name, index)
        let text = requestText(
          member.value, field.part(isText ? "value" : "file"), site,
          wanted: isText ? nil : "the path of a file")
        guard let text else { continue }
        part.content = isText ? .text(text) : .file(text)
      case .fileName:
        fileName = member.key
        part.fileName = requestText(
          member.value, field.part("fileName"), .partFileName(name, index),
          wanted: "the name of a file")
      case .contentType:
        part.contentType = requestText(
          member.value, field.part("contentType"), .partType(name, index),
          wanted: "a media type like \"image/png\"")
      }
    }
    guard content != nil else {
      report(.http(.partWithoutContent(path: path(field))), at: node)
      return nil
    }
    if isText, let fileName { report(.http(.keyOfPartOfText("fileName")), at: fileName) }
    return part
  }
}
