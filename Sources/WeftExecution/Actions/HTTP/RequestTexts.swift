import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftHTTP
import WeftJSON
import WeftPlanning

/// The evaluated texts of the request that a step sends in one attempt; the request itself has them as written.
struct RequestTexts: Sendable {
  /// The texts by site; an empty array omits it.
  private var values: [HTTPSite: [ScopedText]] = [:]
  private var json: [ValuePath: JSONValue] = [:]

  mutating func supply(_ site: HTTPSite, _ texts: [ScopedText]) { values[site] = texts }
  mutating func supply(json value: JSONValue, at path: ValuePath) { json[path] = value }

  /// The texts at a site: the evaluated ones, or else the literal text.
  func texts(_ site: HTTPSite, _ written: String) -> [ScopedText] {
    values[site] ?? [ScopedText(text: written)]
  }

  /// The text at a site that has only one.
  func text(_ site: HTTPSite, _ written: String) -> ScopedText? { texts(site, written).first }

  func text(_ site: HTTPSite, _ written: String?) -> String? {
    written.flatMap { text(site, $0)?.text }
  }

  /// The body, if it is JSON.
  func jsonBody(_ written: JSONValue) -> JSONValue {
    json.isEmpty
      ? written
      : written.replacingStrings { path, text in json[path] ?? .string(text) }
  }
}

/// Inserts the values of a request's expressions, each escaped for its position.
extension RequestTexts {
  /// - Parameter hide: Called with every value that is derived from secrets.
  mutating func resolve(
    _ site: HTTPSite, _ template: Template, in scope: StepScope, hide: (ScopedValue) -> Void
  ) throws(ExpressionError) {
    switch site {
    // About responses, of which there is none yet.
    case .expected, .until, .nextPage, .collected: break
    case .url:
      let pieces = try evaluated(template, in: scope, hide)
      supply(site, [try RequestURL.text(of: template, pieces)])
    case .saveTo, .bodyFile, .partFile, .cacheFolder:
      let pieces = try evaluated(template, in: scope, hide)
      supply(site, [try RequestPath.text(of: template, pieces)])
    case .json(let path):
      let evaluation = try template.evaluate(in: scope)
      if evaluation.isSecret { hide(evaluation) }
      supply(json: evaluation.value.json, at: path)
    case .query, .header, .field, .part:
      supply(site, try several(template, in: scope, hide))
    case .proxy where template.onlyExpression == nil:
      let pieces = try evaluated(template, in: scope, hide)
      supply(site, [RequestProxy.text(of: template, pieces)])
      hideTexts(at: site, hide)
    case .idempotencyKey, .proxy:
      supply(site, try template.optionalText(in: scope).map { [$0] } ?? [])
      hideTexts(at: site, hide)
    case .method, .body, .bearer, .user, .password, .partFileName, .partType, .authorities,
      .certificate, .key, .origin:
      supply(site, [try template.text(in: scope)])
      hideTexts(at: site, hide)
    }
  }

  private func hideTexts(at site: HTTPSite, _ hide: (ScopedValue) -> Void) {
    for text in texts(site, "") where text.isSecret {
      hide(ScopedValue(.string(text.text), isSecret: true))
    }
  }

  /// One text for each element of an array; none for `null`.
  private func several(
    _ template: Template, in scope: StepScope, _ hide: (ScopedValue) -> Void
  ) throws(ExpressionError) -> [ScopedText] {
    guard let expression = template.onlyExpression else {
      let text = try template.text(in: scope)
      if text.isSecret { hide(ScopedValue(.string(text.text), isSecret: true)) }
      return [text]
    }
    let evaluation = try expression.evaluate(in: scope)
    if evaluation.isSecret { hide(evaluation) }
    let values: [ExpressionValue]
    switch evaluation.value {
    case .null: values = []
    case .array(let array): values = array.elements
    default: values = [evaluation.value]
    }
    var texts: [ScopedText] = []
    for value in values {
      texts.append(
        ScopedText(text: try expression.text(of: value), isSecret: evaluation.isSecret))
    }
    return texts
  }

  /// The texts of a template's expressions.
  private func evaluated(
    _ template: Template, in scope: StepScope, _ hide: (ScopedValue) -> Void
  ) throws(ExpressionError) -> [ScopedText] {
    var texts: [ScopedText] = []
    for expression in template.expressions {
      let text = try expression.text(in: scope)
      if text.isSecret { hide(ScopedValue(.string(text.text), isSecret: true)) }
      texts.append(text)
    }
    return texts
  }
}
