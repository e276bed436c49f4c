package import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftJSON

/// The request that a step sends in this attempt: its expressions replaced by values.
package struct ResolvedRequest: Sendable {
  /// The request with its evaluated conditions. Its texts are still as written: see ``text(_:_:)``.
  package var call: HTTPCall
  /// The evaluated texts; an empty array omits the site.
  private var values: [HTTPSite: [ScopedText]] = [:]
  private var json: [ValuePath: JSONValue] = [:]

  init(asWritten call: HTTPCall) { self.call = call }

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
