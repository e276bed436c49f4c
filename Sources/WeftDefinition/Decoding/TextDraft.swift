import WeftDiagnostics
import WeftJSON

/// What one object says by expressions: found while its keys are read.
struct TextDraft {
  var places: [TextPlace] = []
  var computed: [ComputedKey: String] = [:]
}

extension DecodingPass {
  /// A text in which expressions may stand; they are looked into when the whole file is known.
  mutating func text(_ node: JSONNode, _ field: Field, at site: TextSite) -> String? {
    guard node.kind == .string, mayHaveExpression(node), let text = node.stringValue,
      text.hasExpression
    else { return text(node, field) }
    texts.places.append(TextPlace(site, at: node.range))
    return text
  }

  /// A text with something in it; `wanted` says what, for the message.
  mutating func filledText(
    _ node: JSONNode, _ field: Field, at site: TextSite, wanted: String
  ) -> String? {
    guard let text = text(node, field, at: site) else { return nil }
    guard !text.isEmpty else {
      report(.empty(path: path(field), wanted: wanted), at: node)
      return nil
    }
    return text
  }

  /// Whether the value of `key` is left to an expression.
  mutating func computes(_ key: ComputedKey?, _ node: JSONNode) -> Bool {
    guard let key, node.kind == .string, mayHaveExpression(node), let text = node.stringValue,
      text.hasExpression
    else { return false }
    texts.computed[key] = text
    texts.places.append(TextPlace(.computed(key), at: node.range))
    return true
  }

  /// Reads an object of its own; returns what it says by expressions.
  mutating func collectingTexts(_ read: (inout DecodingPass) -> Void) -> TextDraft {
    let outer = texts
    texts = TextDraft()
    read(&self)
    let draft = texts
    texts = outer
    return draft
  }
}
