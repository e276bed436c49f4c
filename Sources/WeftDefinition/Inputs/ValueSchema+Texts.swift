package import WeftDiagnostics
package import WeftJSON

/// The reason why a text cannot be read as a value of the declared type.
package enum TextError: Error, Sendable, Hashable {
  /// The text is not a value of any of the types.
  case unlike(String, wanted: [ValueType])
  /// It is not JSON; the location counts within the text.
  case notJSON(String, at: SourcePosition, help: String?)

  /// - Parameters:
  ///   - subject: The option or input that the text is for, such as `"-i port"`.
  ///   - isSecret: Whether the message must not contain any part of the text.
  package func message(about subject: String, isSecret: Bool = false) -> String {
    switch self {
    case .unlike(let text, let wanted):
      let expectation = listed(wanted.map(\.expectation), conjunction: "or")
      return isSecret
        ? "\(subject) is a secret with an invalid value, expected \(expectation)"
        : "\(subject) is \(quoted(text)), expected \(expectation)"
    case .notJSON(let message, let place, _):
      return "\(subject) is not JSON, at \(place.line):\(place.column)"
        + (isSecret ? "" : ": \(message)")
    }
  }

  package func help(isSecret: Bool = false) -> String? {
    switch self {
    case .unlike(let text, let wanted): isSecret ? nil : TextError.remedy(for: text, wanted)
    case .notJSON(_, _, let help): isSecret ? nil : help
    }
  }

  private static let truths: Set = ["yes", "y", "on", "1", "true", "t"]
  private static let falsehoods: Set = ["no", "n", "off", "0", "false", "f"]

  private static func remedy(for text: String, _ wanted: [ValueType]) -> String? {
    if wanted.contains(.boolean) {
      if truths.contains(text.lowercased()) { return "write true" }
      if falsehoods.contains(text.lowercased()) { return "write false" }
    }
    if wanted.contains(.integer) || wanted.contains(.number),
      text.utf8.contains(where: { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    {
      return
        "numbers are written as in JSON: 7, -1.5 or 2e3, without \"+\", spaces or leading zeros"
    }
    return nil
  }
}

extension ValueSchema {
  /// The types by which a text is read: those declared, else those of the allowed values; without
  /// either, a text is taken literally.
  private func typesOfTexts(besides other: JSONValue?) -> [ValueType] {
    if !types.isEmpty { return types }
    let known = allowed + [constant, other].compactMap(\.self).filter { $0 != .null }
    let all = known.map(ValueType.init(of:))
    return ValueType.allCases.filter(all.contains)
  }

  /// Reads a text as people write it on a command line.
  ///
  /// A text is taken literally where a string is allowed. Numbers follow the grammar of JSON; `true`,
  /// `false`, `null`, arrays and objects are written as in JSON. Whether the value fits is not checked.
  ///
  /// - Parameter example: A value that is known to fit, such as the default: it gives the type if none
  ///   is declared.
  package func value(
    ofText text: String, like example: JSONValue? = nil
  ) throws(TextError) -> JSONValue {
    let types = typesOfTexts(besides: example)
    if types.isEmpty || types.contains(.string) { return .string(text) }
    if types.contains(.null), text == "null" { return .null }
    if types.contains(.boolean), text == "true" || text == "false" { return .bool(text == "true") }
    if types.contains(.number) || types.contains(.integer), let number = JSONNumber(text) {
      return .number(number)
    }
    guard types.contains(.array) || types.contains(.object) else {
      throw .unlike(text, wanted: types)
    }
    return try JSONValue(text: text)
  }
}

extension JSONValue {
  /// Reads a text that is JSON.
  package init(text: String) throws(TextError) {
    let file = SourceFile(path: "<text>", bytes: Array(text.utf8))
    let (root, diagnostics) = JSONReader.read(file)
    if let error = diagnostics.first(where: \.isError) {
      let offset = error.place.map { Int($0.range.start) } ?? 0
      throw .notJSON(error.message, at: file.position(of: offset), help: error.help)
    }
    self = root.map(JSONValue.init) ?? .null
  }
}
