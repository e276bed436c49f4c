import WeftDefinition
import WeftDiagnostics
package import WeftExpressions
import WeftHTTP

/// Checks the literal parts of requests by the rules of the HTTP client: whatever it would refuse is found before
/// anything runs.
struct RequestChecker {
  private var found = FoundProblems()
  private var places: [TextPlace] = []

  static func problems(of outline: Outline) -> [PlacedProblem] {
    guard outline.hasControl else { return [] }
    var checker = RequestChecker()
    for step in outline.steps where step.kind == .http {
      guard let call = step.action.request else { continue }
      checker.found.file = outline.groups[step.group].file
      checker.found.node = step.node
      checker.places = step.textPlaces
      checker.check(call)
    }
    return checker.found.problems
  }

  private mutating func check(_ call: HTTPCall) {
    if !call.method.hasExpression {
      check(.method) { () throws(RequestError) in try HTTPMethod(call.method).check() }
      checkBody(of: call)
    }
    checkURL(call.url)
    for (index, header) in call.headers.enumerated() {
      check(.header(header.name, index)) { () throws(RequestError) in
        // For a computed value, only the name is checked.
        try HTTPHeader(header.name, header.value.hasExpression ? "" : header.value).check()
      }
    }
    for (index, origin) in (call.paging?.origins ?? []).enumerated() where !origin.hasExpression {
      do { _ = try HTTPURL(origin: origin) } catch {
        report(.origin(index), error.message, error.help)
      }
    }
    if let proxy = call.proxy, !proxy.hasExpression, proxy != "env" {
      check(.proxy) { () throws(RequestError) in try HTTPProxy.url(proxy).check() }
      if call.shownProxy != proxy {
        found.append(
          .credentials(in: .proxy, help: "write \"http://${{ secrets.… }}:${{ secrets.… }}@…\""),
          place(of: .proxy))
      }
    }
  }

  private mutating func checkBody(of call: HTTPCall) {
    guard call.body != .none, !HTTPMethod(call.method).mayHaveBody else { return }
    report(.method, RequestError.bodyNotAllowed(method: call.method).message, nil)
  }

  private mutating func checkURL(_ text: String) {
    // An empty URL was reported by the decoder.
    guard !text.isEmpty, !text.hasExpression else { return }
    do {
      guard try HTTPURL(text).credentials != nil else { return }
      found.append(
        .credentials(
          in: .url,
          help: "write \"auth\": { \"basic\": { \"user\": …, \"password\": \"${{ secrets.… }}\" } }"
        ),
        place(of: .url))
    } catch {
      report(.url, error.message, error.help)
    }
  }

  private mutating func check(_ site: HTTPSite, _ rule: () throws(RequestError) -> Void) {
    do throws(RequestError) { try rule() } catch { report(site, error.message, nil) }
  }

  private mutating func report(_ site: HTTPSite, _ message: String, _ help: String?) {
    found.append(
      Diagnostic("W0426", "\(site.path): \(message)", key: site.path, help: help),
      place(of: site))
  }

  private func place(of site: HTTPSite) -> SourceRange? {
    places.first { $0.site == .http(site) }?.range
  }
}

extension Diagnostic {
  fileprivate static func credentials(in site: HTTPSite, help: String) -> Diagnostic {
    Diagnostic(
      "W0514",
      "\(site.path) contains a user or a password, which anyone who reads the file can see",
      key: site.path, help: help, severity: .warning)
  }
}

extension ValueChecker {
  /// Reports expressions whose position in the URL is uncertain: values are escaped for their position.
  mutating func checkURL(_ text: PlannedText) {
    let segments = text.template.segments
    guard let (fault, index) = URLTemplate.read(segments).fault else { return }
    report(
      Diagnostic(
        DefinitionCode.expression.rawValue, "\(text.site.key): \(fault.message)", help: fault.help),
      text, segments[index].range)
  }
}

/// The position of a placeholder in a URL, which decides how its value is escaped.
package enum URLPlaceholder: Sendable, Hashable {
  /// The whole URL.
  case whole
  /// The beginning: scheme, host, and perhaps the first part of the path.
  case base
  /// The host or a part of it.
  case host
  /// A segment of the path or a part of one.
  case segment
  /// A name or value of the query.
  case query
}

/// A URL with placeholders, read without their values.
package struct URLTemplate: Sendable, Hashable {
  /// The reason why a placeholder is not allowed at its position.
  package enum Failure: Error, Sendable, Hashable {
    case beforeHost
    case afterBase
    case credentials
  }

  /// The position of each placeholder, in order.
  package private(set) var placeholders: [URLPlaceholder] = []

  /// - Returns: The template, or a fault and the index of the segment that causes it.
  package static func read(
    _ segments: [Template.Segment]
  ) -> (template: URLTemplate?, fault: (Failure, index: Int)?) {
    var reader = URLTemplateReader(isAlone: segments.count == 1)
    for (index, segment) in segments.enumerated() {
      switch segment.content {
      case .text(let text): reader.take(text)
      case .expression: reader.takeHole(at: index)
      }
    }
    if let fault = reader.fault { return (nil, fault) }
    return (URLTemplate(placeholders: reader.placeholders), nil)
  }
}

/// Reads a URL from left to right.
private struct URLTemplateReader {
  private enum Part { case start, scheme, afterBase, authority, path, query }

  let isAlone: Bool
  private(set) var placeholders: [URLPlaceholder] = []
  private(set) var fault: (URLTemplate.Failure, index: Int)?
  private var part = Part.start
  /// The scheme, as far as it was read.
  private var scheme = ""
  private var lastHole = 0
  /// The first placeholder of the authority, which may prove to be part of the user information.
  private var holeInAuthority: Int?

  init(isAlone: Bool) { self.isAlone = isAlone }

  mutating func take(_ text: String) {
    for byte in text.utf8 { take(byte) }
  }

  private mutating func take(_ byte: UInt8) {
    switch part {
    case .start, .scheme:
      part = .scheme
      scheme.unicodeScalars.append(Unicode.Scalar(byte))
      if scheme.hasSuffix("://") { part = .authority }
    case .afterBase:
      guard "/?#".utf8.contains(byte) else { return report(.afterBase, lastHole) }
      part = byte == UInt8(ascii: "/") ? .path : .query
    case .authority:
      if byte == UInt8(ascii: "@"), let placeholder = holeInAuthority {
        report(.credentials, placeholder)
      }
      if byte == UInt8(ascii: "/") { part = .path }
      if "?#".utf8.contains(byte) { part = .query }
    case .path: if "?#".utf8.contains(byte) { part = .query }
    case .query: break
    }
  }

  mutating func takeHole(at index: Int) {
    lastHole = index
    switch part {
    case .start:
      placeholders.append(isAlone ? .whole : .base)
      part = .afterBase
    case .scheme: report(.beforeHost, index)
    case .afterBase: report(.afterBase, index)
    case .authority:
      holeInAuthority = holeInAuthority ?? index
      placeholders.append(.host)
    case .path: placeholders.append(.segment)
    case .query: placeholders.append(.query)
    }
  }

  private mutating func report(_ fault: URLTemplate.Failure, _ index: Int) {
    if self.fault == nil { self.fault = (fault, index) }
  }
}

extension URLTemplate.Failure {
  var message: String {
    switch self {
    case .beforeHost: "the scheme of the URL contains an expression"
    case .afterBase: "the text after the first expression would extend the host of the URL"
    case .credentials: "the URL has an expression for a user or a password"
    }
  }

  var help: String {
    switch self {
    case .beforeHost:
      "write \"https://\" literally, or let the expression produce the whole base URL"
    case .afterBase: "write a slash after it: \"${{ inputs.server }}/path\""
    case .credentials: "write \"auth\": { \"basic\": { \"user\": …, \"password\": … } }"
    }
  }
}
