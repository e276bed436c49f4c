package import WeftDefinition
import WeftExpressions
import WeftJSON

/// The request that a step sends this time: as it is written, with values in place of its expressions.
package struct ResolvedRequest: Sendable {
  /// With the conditions that expressions came to. Its texts are as they are written: see ``text(_:_:)``.
  package var call: HTTPCall
  /// What expressions came to; none of a site: it is left out.
  private var values: [HTTPSite: [ScopedText]] = [:]
  private var json: [ValuePath: JSONValue] = [:]

  init(asWritten call: HTTPCall) { self.call = call }

  mutating func give(_ site: HTTPSite, _ texts: [ScopedText]) { values[site] = texts }
  mutating func give(json value: JSONValue, at path: ValuePath) { json[path] = value }

  /// What stands at a site: as it is written, unless an expression came to something else.
  func texts(_ site: HTTPSite, _ written: String) -> [ScopedText] {
    values[site] ?? [ScopedText(text: written)]
  }

  /// Likewise of a site with one text.
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
