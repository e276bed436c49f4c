import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftHTTP

/// Checks the literal parts of requests by the rules of the HTTP client: whatever it would refuse is found before
/// anything runs.
struct RequestChecker {
  private var found = FoundProblems()
  private var places: [TextPlace] = []

  static func problems(of outline: Outline) -> [PlacedProblem] {
    guard outline.sendsRequests else { return [] }
    var checker = RequestChecker()
    for step in outline.steps where step.sendsRequest {
      guard let call = step.request else { continue }
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
        found.append(.credentialsInProxy(HTTPSite.proxy.path), place(of: .proxy))
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
      found.append(.credentialsInURL(HTTPSite.url.path), place(of: .url))
    } catch {
      report(.url, error.message, error.help)
    }
  }

  private mutating func check(_ site: HTTPSite, _ rule: () throws(RequestError) -> Void) {
    do throws(RequestError) { try rule() } catch { report(site, error.message, nil) }
  }

  private mutating func report(_ site: HTTPSite, _ message: String, _ help: String?) {
    found.append(.unsendable(site.path, message: message, help: help), place(of: site))
  }

  private func place(of site: HTTPSite) -> SourceRange? {
    places.first { $0.site == .http(site) }?.range
  }
}

extension ValueChecker {
  /// Reports expressions whose position in the URL is uncertain: values are escaped for their position.
  mutating func checkURL(_ text: PlannedText) {
    let segments = text.template.segments
    guard let (fault, index) = URLTemplate.read(segments).fault else { return }
    report(
      .expression(
        code: DefinitionCode.expression.rawValue, message: "\(text.site.key): \(fault.message)",
        help: fault.help), text, segments[index].range)
  }
}

extension Step {
  /// Whether the response body is saved to a file, so that none can be read.
  var savesBody: Bool {
    if case .http(let call) = action { call.saveTo != nil } else { false }
  }
}
