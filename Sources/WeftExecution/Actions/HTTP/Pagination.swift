import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftHTTP

/// Decides what follows a response: success, the next page, another poll, or failure of the attempt. It has no
/// effects: it only evaluates the request's expressions.
struct Pagination: Sendable {
  enum Next: Sendable {
    /// Requests the next page.
    case ask(HTTPRequest)
    /// The attempt has succeeded.
    case done(Response)
    /// Polls again after this delay, because the response is not the awaited one.
    case pollLater(Duration, Response)
    case failed(StepFailure, Response)
  }

  private let call: HTTPCall
  private let first: HTTPRequest
  private let questions: ResponseEvaluator
  /// The number of requests for the first page, including this one.
  private let asked: Int
  private var pages = 0
  private var seen: Set<HTTPURL> = []
  private var collected: [ExpressionValue] = []
  private var bytes = 0
  private var figures: ExchangeFigures?
  /// The request in flight.
  private(set) var request: HTTPRequest

  init(_ call: HTTPCall, _ request: HTTPRequest, asked: Int, _ questions: ResponseEvaluator) {
    self.call = call
    self.request = request
    first = request
    self.asked = asked
    self.questions = questions
  }

  mutating func answered(_ response: HTTPResponse) -> Next {
    figures = figures?.followed(by: response.figures) ?? response.figures
    let answer = answer(response)
    do throws(StepFailure) {
      if let failure = try unexpected(answer) { return .failed(failure, answer) }
      guard let paging = call.paging else { return try finished(answer) }
      return try turn(to: answer, paging)
    } catch {
      return .failed(error, answer)
    }
  }

  private func answer(_ response: HTTPResponse, isLast: Bool = false) -> Response {
    Response(
      response, form: call.responseForm,
      collected: isLast ? .array(ExpressionArray(collected)) : nil,
      pages: call.paging.map { _ in isLast ? pages : pages + 1 }, figures: figures)
  }

  // MARK: Expectations

  private func unexpected(_ answer: Response) throws(StepFailure) -> StepFailure? {
    let status = answer.response.status
    guard first.expectedStatus.accepts(status) else {
      return .unexpected(answer.response, to: first)
    }
    if call.responseForm != .auto, answer.response.savedTo == nil {
      if let failure = undecodable(answer) { return failure }
    }
    guard try questions.holds(.expected, for: answer) == false else { return nil }
    return StepFailure(
      classes: ErrorClass.classes(ofStatus: status),
      message: "\(answer.response.phrase), but \"expect.when\" is false: "
        + questions.text(at: .expected))
  }

  private func undecodable(_ answer: Response) -> StepFailure? {
    do throws(BodyTextError) {
      let text = try answer.response.text()
      guard call.responseForm == .json else { return nil }
      do throws(EvaluationError) {
        _ = try ExpressionValue.json(text, from: "the response")
        return nil
      } catch {
        return StepFailure(classes: [.decode], message: error.message)
      }
    } catch {
      return StepFailure(classes: [.decode], message: error.message, help: error.help)
    }
  }

  // MARK: Polling

  private func finished(_ answer: Response) throws(StepFailure) -> Next {
    guard let polling = call.polling, try questions.holds(.until, for: answer) == false else {
      return .done(answer)
    }
    guard asked < polling.max else {
      return .failed(
        StepFailure(
          classes: [.limit],
          message: "gave up after \(Count(polling.max, "request")); \"poll.until\" is still false: "
            + questions.text(at: .until),
          help: "raise \"max\" of \"poll\", or \"every\""), answer)
    }
    return .pollLater(polling.every, answer)
  }

  // MARK: Pages

  private mutating func turn(
    to page: Response, _ paging: HTTPCall.Paging
  ) throws(StepFailure) -> Next {
    pages += 1
    seen.insert(request.url)
    seen.insert(page.response.url)
    try collect(page)
    guard let next = try next(after: page, paging) else {
      let whole = answer(page.response, isLast: true)
      return try finished(whole)
    }
    guard pages < paging.max else {
      throw StepFailure(
        classes: [.limit], message: "there are more than \(paging.max) pages",
        help: "raise \"max\" of \"pages\"")
    }
    if first.url.scheme == .https, next.scheme == .http, !call.allowsDowngrade {
      throw StepFailure(
        classes: [.redirect], message: "the next page is \(next), which is not encrypted")
    }
    guard !seen.contains(next) else {
      throw StepFailure(
        classes: [.protocol], message: "the next page is \(next), which was already read")
    }
    do throws(RedirectError) {
      _ = try request.follow(to: next, namedBy: page.response.url)
    } catch {
      throw StepFailure(
        classes: [.redirect], message: error.message,
        help: error.isOfSecret
          ? nil
          : "add that origin to \"pages.origins\" if it may receive what "
            + "the first one receives")
    }
    return .ask(request)
  }

  private func next(
    after page: Response, _ paging: HTTPCall.Paging
  ) throws(StepFailure) -> HTTPURL? {
    guard case .computed = paging.next else { return page.response.nextPage }
    switch try questions.value(at: .nextPage, of: page)?.value {
    case nil, .null, .boolean(false), .string(""): return nil
    case .string(let text):
      do { return try page.response.url.resolving(text) } catch {
        throw .unsendable("http.pages.next: \(error.message)", help: error.help)
      }
    case .boolean, .number, .array, .object:
      throw .unsendable("http.pages.next is not a URL: \(questions.text(at: .nextPage))")
    }
  }

  private mutating func collect(_ page: Response) throws(StepFailure) {
    bytes += page.response.body.count
    let limit = call.maxBytes?.bytes ?? HTTPRequest.defaultMaxBytes
    guard bytes <= limit else {
      throw StepFailure(
        classes: [.limit], message: "the pages have in total more than \(ByteCount(limit))",
        help: "raise \"maxBytes\", or collect less")
    }
    guard call.paging?.collect != nil else {
      return collected.append(contentsOf: try elements(of: page))
    }
    guard let value = try questions.value(at: .collected, of: page)?.value else { return }
    guard case .array(let array) = value else {
      throw StepFailure(
        classes: [.decode],
        message: "\"pages.collect\" evaluates to \(value.kindName), expected an array: "
          + questions.text(at: .collected))
    }
    collected += array.elements
  }

  /// The elements of a page that is an array; any other page is one element.
  private func elements(of page: Response) throws(StepFailure) -> [ExpressionValue] {
    do throws(EvaluationError) {
      let body = CapturedBody(page, mask: nil, spool: CaptureSpool())
      switch try body.json("page \(pages)", from: CaptureSpool()).value {
      case .array(let array): return array.elements
      case .null: return []
      case let value: return [value]
      }
    } catch {
      throw StepFailure(classes: [.decode], message: error.message, help: error.help)
    }
  }
}

extension StepFailure {
  /// A response with an unexpected status.
  fileprivate static func unexpected(
    _ response: HTTPResponse, to request: HTTPRequest
  ) -> StepFailure {
    let (head, expected) = (response.head, request.expectedStatus)
    var failure = StepFailure(
      classes: ErrorClass.classes(ofStatus: response.status), message: response.phrase,
      help: StatusReason.help(response, to: request))
    if head.isRedirect, !head.hasTarget, request.redirects.limit > 0 {
      failure.classes.insert(.redirect, at: 0)
      failure.message += " without a location"
    }
    if expected != .success { failure.message += "; expected \(expected.alternatives)" }
    return failure
  }
}

extension HTTPResponse {
  /// Such as `GET http://h/a returned 404 Not Found`. Without the query, which may be long.
  fileprivate var phrase: String {
    "\(method.name) \(url.origin)\(url.path) returned \(status)"
      + (StatusReason.text(status).map { " \($0)" } ?? "")
  }
}

extension StatusExpectation {
  /// Such as `200 or 3xx`.
  fileprivate var alternatives: String {
    elements.map { element in
      switch element {
      case .code(let code): "\(code)"
      case .hundreds(let hundreds): "\(hundreds)xx"
      }
    }.joined(separator: " or ")
  }
}
