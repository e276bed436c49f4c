import Glibc
import WeftDiagnostics
import WeftJSON
import WeftPlatform

/// A test of http-tests/cache-tests, as its `tests` export has it.
struct SuiteCase: Sendable {
  /// The meaning of a failed test for a cache.
  enum Kind: String, Sendable { case required, optimal, check }

  let id: String
  let kind: Kind
  let dependsOn: [String]
  let requests: [SuiteRequest]
  /// The reason why it does not apply to a cache of one client; `nil` if it does.
  let notApplicable: String?

  private init(_ json: JSONValue) {
    id = json["id"]?.text ?? ""
    kind = json["kind"]?.text.flatMap(Kind.init) ?? .required
    dependsOn = json["depends_on"]?.elements.compactMap(\.text) ?? []
    requests = json["requests"]?.elements.map(SuiteRequest.init) ?? []
    notApplicable = Self.reason(json, id: id, requests)
  }

  private static func reason(_ json: JSONValue, id: String, _ requests: [SuiteRequest]) -> String? {
    if json["cdn_only"] == true { return "for caches of content delivery networks" }
    if requests.contains(where: { $0["cache"] != nil }) { return "asks by fetch's cache modes" }
    // Browsers do not show redirects; this client does.
    guard json["browser_skip"] == true, !id.hasPrefix("status-") else { return nil }
    if id.hasPrefix("conditional-") { return "a condition of the caller's own goes to the server" }
    if id.hasPrefix("interim-") { return "a transport does not show 1xx" }
    return "for shared caches"
  }

  /// The folder of `tests.json`.
  static let folder: String? = getenv("WEFT_SUITES").map {
    String(cString: $0) + "/http-cache-tests"
  }

  static let isThere = folder.map { access($0 + "/tests.json", R_OK) == 0 } ?? false

  static func all() throws -> [SuiteCase] {
    guard let folder else { return [] }
    let path = folder + "/tests.json"
    let file = SourceFile(path: path, bytes: try FileReading.bytes(of: path))
    let root = JSONReader.read(file, beside: nil).root.map { JSONValue($0) }
    return (root?.elements ?? []).flatMap { $0["tests"]?.elements ?? [] }.map(SuiteCase.init)
  }
}

/// One request of a case, and the expected response.
struct SuiteRequest: Sendable {
  private let json: JSONValue

  init(_ json: JSONValue) { self.json = json }

  subscript(name: String) -> JSONValue? { json[name] }

  /// Headers as the suite writes them; a number is a date, in seconds from now.
  struct Header: Sendable {
    let name: String
    let value: String
    /// Whether the client must see it exactly as it was sent.
    let isChecked: Bool
  }

  /// - Parameter base: The base of locations; `nil` if they are used as written.
  func headers(_ member: String, now: Int64, base: String?) -> [Header] {
    (json[member]?.elements ?? []).compactMap { field in
      let parts = field.elements
      guard parts.count >= 2, let name = parts[0].text else { return nil }
      return Header(
        name: name, value: value(parts[1], of: name.lowercased(), now: now, base: base),
        isChecked: parts.count < 3 || parts[2] == true)
    }
  }

  func value(_ json: JSONValue, of name: String, now: Int64, base: String?) -> String {
    if let seconds = json.number { return SuiteDate.text(now + Int64(seconds)) }
    let text = json.text ?? ""
    guard let base, ["location", "content-location"].contains(name) else { return text }
    return text.isEmpty ? base : base + "/" + text
  }

  var method: String { json["request_method"]?.text ?? "GET" }
  var expectedType: String? { json["expected_type"]?.text }
  /// The status; `nil` for the default.
  var status: Int? { json["response_status"]?.elements.first?.number }

  /// Whether a failed check of that member means that the case could not be set up.
  func isSetUp(_ member: String) -> Bool {
    json["setup"] == true || (json["setup_tests"]?.elements.contains(.string(member)) ?? false)
  }
}

extension JSONValue {
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var number: Int? { if case .number(let number) = self { number.asInt } else { nil } }
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}

/// Dates as Node writes them.
enum SuiteDate {
  static func text(_ seconds: Int64) -> String {
    var (time, parts) = (time_t(seconds), tm())
    gmtime_r(&time, &parts)
    return String(unsafeUninitializedCapacity: 64) { buffer in
      buffer.withMemoryRebound(to: CChar.self) {
        strftime($0.baseAddress, $0.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
      }
    }
  }
}
