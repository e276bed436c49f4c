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
  /// Evaluates the text at a site. Every value that is derived from secrets is masked from now on.
  mutating func resolve(
    _ site: HTTPSite, _ template: Template, in scope: StepScope
  ) throws(ExpressionError) {
    let secrets = scope.values.secrets
    switch site {
    // About responses, of which there is none yet.
    case .expected, .until, .nextPage, .collected: break
    case .url:
      values[site] = [try RequestURL.text(of: template, try pieces(template, in: scope))]
    case .saveTo, .bodyFile, .partFile, .cacheFolder:
      values[site] = [try RequestPath.text(of: template, try pieces(template, in: scope))]
    case .json(let path):
      let evaluation = try template.evaluate(in: scope)
      if evaluation.isSecret { secrets.add(everyTextIn: evaluation.value) }
      json[path] = evaluation.value.json
    case .query, .header, .field, .part: values[site] = try several(template, in: scope)
    case .proxy where template.onlyExpression == nil:
      let proxy = RequestProxy.text(of: template, try pieces(template, in: scope))
      values[site] = [secrets.registering(proxy)]
    case .idempotencyKey, .proxy:
      values[site] = try template.optionalText(in: scope).map { [secrets.registering($0)] } ?? []
    case .method, .body, .bearer, .user, .password, .partFileName, .partType, .authorities,
      .certificate, .key, .origin:
      values[site] = [secrets.registering(try template.text(in: scope))]
    }
  }

  /// One text for each element of an array; none for `null`.
  private func several(
    _ template: Template, in scope: StepScope
  ) throws(ExpressionError) -> [ScopedText] {
    let secrets = scope.values.secrets
    guard let expression = template.onlyExpression else {
      return [secrets.registering(try template.text(in: scope))]
    }
    let evaluation = try expression.evaluate(in: scope)
    if evaluation.isSecret { secrets.add(everyTextIn: evaluation.value) }
    if case .null = evaluation.value { return [] }
    return try expression.texts(of: evaluation)
  }

  /// The texts of a template's expressions.
  private func pieces(
    _ template: Template, in scope: StepScope
  ) throws(ExpressionError) -> [ScopedText] {
    try template.expressions.map { (expression) throws(ExpressionError) in
      scope.values.secrets.registering(try expression.text(in: scope))
    }
  }
}
