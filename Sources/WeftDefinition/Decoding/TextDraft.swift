import WeftDiagnostics
import WeftJSON

/// The expressions of one object, collected while its keys are read.
struct TextDraft {
  var places: [TextPlace] = []
  var computed: [ComputedKey: String] = [:]
}

extension DecodingPass {
  /// A text that may contain expressions; they are checked once the whole file is known.
  mutating func text(_ node: JSONNode, _ field: Field, at site: TextSite) -> String? {
    guard node.kind == .string, mayHaveExpression(node), let text = node.stringValue,
      text.hasExpression
    else { return text(node, field) }
    texts.places.append(TextPlace(site, at: node.range))
    return text
  }

  /// A non-empty text; `wanted` describes it in messages.
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

  /// Whether an expression gives the value of `key`; if so, it is noted.
  mutating func computes(_ key: ComputedKey?, _ node: JSONNode) -> Bool {
    guard let key, node.kind == .string, mayHaveExpression(node), let text = node.stringValue,
      text.hasExpression
    else { return false }
    texts.computed[key] = text
    texts.places.append(TextPlace(.computed(key), at: node.range))
    return true
  }

  /// Reads an object of its own and returns its expressions.
  mutating func collectingTexts(_ read: (inout DecodingPass) -> Void) -> TextDraft {
    let outer = texts
    texts = TextDraft()
    read(&self)
    let draft = texts
    texts = outer
    return draft
  }
}
