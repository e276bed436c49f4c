import WeftDiagnostics
import WeftJSON

extension DecodingPass {
  /// Any text without an expression in it.
  mutating func text(_ node: JSONNode, _ field: Field) -> String? {
    guard node.kind == .string else {
      reportType(of: node, field, wanted: "a string", help: stringHelp(for: node))
      return nil
    }
    let content = content(of: node)
    if !node.isEscaped && !content.hasDollar { return String(decoding: content, as: UTF8.self) }
    let text = node.stringValue ?? ""
    guard !text.hasExpression else {
      report(.expression(path: path(field)), at: node)
      return nil
    }
    return text
  }

  /// A text with something in it; `wanted` says what, for the message.
  mutating func filledText(_ node: JSONNode, _ field: Field, wanted: String) -> String? {
    guard let text = text(node, field) else { return nil }
    guard !text.isEmpty else {
      report(.empty(path: path(field), wanted: wanted), at: node)
      return nil
    }
    return text
  }

  /// A program and its arguments.
  mutating func arguments(_ node: JSONNode, _ field: Field) -> [String]? {
    guard !node.elements.isEmpty else {
      report(.empty(path: path(field), wanted: "a program and its arguments"), at: node)
      return nil
    }
    var arguments: [String] = []
    var isWhole = true
    for (index, element) in node.elements.enumerated() {
      let argument =
        index == 0
        ? filledText(element, field.element(0), wanted: "the name of a program")
        : text(element, field.element(index))
      if let argument { arguments.append(argument) } else { isWhole = false }
    }
    return isWhole ? arguments : nil
  }

  mutating func integer(_ node: JSONNode, _ field: Field, in range: ClosedRange<Int>) -> Int? {
    guard let number = node.numberValue else {
      reportType(
        of: node, field,
        wanted: "a whole number from \(range.lowerBound) to \(range.upperBound)",
        help: numberHelp(for: node))
      return nil
    }
    guard let integer = number.asInt, range.contains(integer) else {
      report(
        .numberOutOfRange(path: path(field), number: node.sourceText, wanted: range), at: node)
      return nil
    }
    return integer
  }

  mutating func duration(
    _ node: JSONNode, _ field: Field, allowsZero: Bool = false
  ) -> Duration? {
    if node.kind == .number {
      report(.durationWithoutUnit(path: path(field), number: node.sourceText), at: node)
      return nil
    }
    guard node.kind == .string else {
      reportType(of: node, field, wanted: "a duration like \"30s\"")
      return nil
    }
    guard let text = text(node, field) else { return nil }
    do {
      return try DurationText.duration(from: text, allowsZero: allowsZero)
    } catch {
      report(
        .invalidDuration(path: path(field), text: text, fault: error, allowsZero: allowsZero),
        at: node)
      return nil
    }
  }

  mutating func size(_ node: JSONNode, _ field: Field) -> ByteCount? {
    if node.kind == .number {
      report(.sizeWithoutUnit(path: path(field), number: node.sourceText), at: node)
      return nil
    }
    guard node.kind == .string else {
      reportType(of: node, field, wanted: "a size like \"10MB\"")
      return nil
    }
    guard let text = text(node, field) else { return nil }
    do {
      return try SizeText.size(from: text)
    } catch {
      report(.invalidSize(path: path(field), text: text, fault: error), at: node)
      return nil
    }
  }

  /// `false` where it is neither true nor false.
  mutating func flag(_ node: JSONNode, _ field: Field) -> Bool {
    if let flag = node.boolValue { return flag }
    reportType(of: node, field, wanted: "true or false", help: flagHelp(for: node))
    return false
  }

  /// Says what the value is and what it should be, unless the reader has said already that it is nothing.
  mutating func reportType(
    of node: JSONNode, _ field: Field, wanted: String, help: String? = nil
  ) {
    guard node.kind != .unreadable else { return }
    report(
      .wrongType(path: path(field), found: node.noun, wanted: wanted, help: help), at: node)
  }

  private func flagHelp(for node: JSONNode) -> String? {
    guard let text = node.stringValue, text == "true" || text == "false" else { return nil }
    return "write \(text) without quotes"
  }

  private func stringHelp(for node: JSONNode) -> String? {
    switch node.kind {
    case .number, .bool: "write \"\(shortened(node.sourceText))\""
    default: nil
    }
  }

  private func numberHelp(for node: JSONNode) -> String? {
    guard let text = node.stringValue, isCount(text) else { return nil }
    return "write \(text) without quotes"
  }
}

extension JSONNode {
  /// What the value is, in a sentence.
  package var noun: String {
    switch kind {
    case .null: "null"
    case .bool: boolValue == true ? "true" : "false"
    case .number: "the number \(shortened(sourceText))"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    case .unreadable: "unreadable"
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether there is a dollar, without which there is no expression; eight bytes at a time, by the
  /// test for a zero byte in a word (H. S. Warren, "Hacker's Delight", §6-1).
  fileprivate var hasDollar: Bool {
    let dollars = UInt64(UInt8(ascii: "$")) &* 0x0101_0101_0101_0101
    let bytes = UnsafeRawBufferPointer(self)
    var offset = 0
    while offset &+ 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ dollars
      if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
      offset &+= 8
    }
    while offset < bytes.count {
      if bytes[offset] == UInt8(ascii: "$") { return true }
      offset &+= 1
    }
    return false
  }
}

extension String {
  /// Whether `${{` is in the text.
  var hasExpression: Bool {
    var text = self
    return text.withUTF8 { bytes in
      guard bytes.count >= 3 else { return false }
      for index in 0..<bytes.count - 2 where bytes[index] == UInt8(ascii: "$") {
        if bytes[index + 1] == UInt8(ascii: "{") && bytes[index + 2] == UInt8(ascii: "{") {
          return true
        }
      }
      return false
    }
  }
}
