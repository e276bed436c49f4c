package import WeftJSON

extension ExpressionValue {
  /// Converts numbers to `Double`: digits beyond about 15 are lost, and `1e400` becomes infinite.
  package init(_ value: JSONValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .boolean(value)
    case .number(let number): self = .number(Double(number.text) ?? .nan)
    case .string(let text): self = .string(text)
    case .array(let elements): self = .array(elements.map { ExpressionValue($0) })
    case .object(let members):
      self = .object(
        ExpressionObject(members.map { .init(key: $0.key, value: ExpressionValue($0.value)) }))
    }
  }

  /// The value as JSON; NaN and infinities, which JSON does not have, become `null`.
  package var json: JSONValue {
    switch self {
    case .null: .null
    case .boolean(let value): .bool(value)
    case .number(let value): JSONNumber(NumberText.script(value)).map(JSONValue.number) ?? .null
    case .string(let text): .string(text)
    case .array(let array): .array(array.elements.map(\.json))
    case .object(let object):
      .object(JSONObject(object.members.map { ($0.key, $0.value.json) }))
    }
  }

  /// The value as JSON text, as ECMAScript writes it: with line breaks and two spaces for each level, or on one line.
  package func jsonText(_ style: JSONWriter.Style) -> String {
    var writer = JSONWriter(style)
    write(to: &writer)
    return writer.text
  }

  private func write(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .boolean(let value): writer.bool(value)
    case .number(let value) where value.isFinite: writer.raw(NumberText.script(value).utf8)
    case .number: writer.null()
    case .string(let text): writer.string(text)
    case .array(let array):
      writer.beginArray()
      for element in array.elements { element.write(to: &writer) }
      writer.endArray()
    case .object(let object):
      writer.beginObject()
      for member in object.members {
        writer.key(member.key)
        member.value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}
