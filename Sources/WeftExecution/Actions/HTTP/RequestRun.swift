import Synchronization
import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftFutures
import WeftHTTP
import WeftPlatform

/// One attempt of a request and of those that follow from it: carries out the decisions of a ``Pagination``
/// and of an ``ActionEnding``.
final class RequestRun: Sendable {
  /// The current activity.
  private enum Activity {
    /// Waiting for the next request's turn.
    case waiting
    case exchange(Future<HTTPResponse, HTTPFailure>)
    /// Evaluating a response, which is quick: the attempt is not left behind meanwhile.
    case answer
  }

  private struct State {
    var pagination: Pagination
    var activity = Activity.waiting
    var ending = ActionEnding()
    /// The timers of the time limit and of the grace period.
    var timers: [TimerToken] = []
    var log = RequestLog()
  }

  let promise: Promise<AttemptEnd, Never>
  private let attempt: Attempt
  private let client: HTTPClient
  private let time: any TimeSource
  private let grace: Duration
  /// `nil` if responses are evaluated where they arrive.
  private let threads: ThreadPool?
  /// `nil` unless the response is saved.
  private let progress: ProgressReporter?
  /// The start of the attempt; for polling, the start of its first request.
  private let began: Duration
  private let state: Mutex<State>

  /// The longest grace period of a killed run: enough for libcurl to end a request.
  private static let longestGraceOfKilled = Duration.milliseconds(500)

  /// - Parameter grace: The time that a transport has to end a cancelled request.
  init(
    _ attempt: Attempt, _ pagination: Pagination, _ client: HTTPClient, time: any TimeSource,
    grace: Duration, threads: ThreadPool?, progress: ProgressReporter?
  ) {
    self.progress = progress
    self.attempt = attempt
    self.client = client
    self.time = time
    self.grace = grace
    self.threads = threads
    began = attempt.task.polling?.since ?? time.now
    state = Mutex(State(pagination: pagination))
    promise = Promise(ifDropped: .success(AttemptEnd(.failed(.threadEnded))))
  }

  func begin() {
    if let limit = attempt.resolved.timeout {
      start(after: limit - (time.now - began)) { $0.end(.timedOut(after: limit, nil)) }
    }
    for level in [StopLevel.graceful, .now] {
      attempt.stop.whenRequested(level) { [weak self] in self?.end(.stopped(nil)) }
    }
    send()
  }

  // MARK: Ending early

  /// Asks the request to end; the first reason and the shortest grace period count.
  private func end(_ status: AttemptEnd.Status) {
    let (isOver, activity) = state.withLock { state in
      switch status {
      case .timedOut(let limit, _): _ = state.ending.timeoutPassed(limit)
      default: _ = state.ending.stopRequested(.graceful)
      }
      return (state.ending.isOver, state.activity)
    }
    guard !isOver else { return }
    switch activity {
    case .waiting: conclude(status, nil)
    case .exchange(let exchange):
      let isKilled = attempt.stop.level == .now
      start(after: isKilled ? min(grace, Self.longestGraceOfKilled) : grace) { $0.leave() }
      exchange.cancel()
    case .answer: break
    }
  }

  /// Ends the attempt without its request, because the transport has not ended that within the grace period.
  private func leave() {
    let left = state.withLock { state -> (AttemptEnd.Status, HTTPRequest)? in
      guard case .exchange = state.activity,
        case .end(let status, _) = state.ending.gracePassed()
      else { return nil }
      return (status, state.pagination.request)
    }
    guard let (status, request) = left else { return }
    attempt.warnings.report(.requestLeftBehind(by: attempt.address))
    let log = state.withLock { $0.log.text(of: HTTPFailure(.cancelled), of: request) }
    attempt.output.keep(log)
    finish(status, RequestTrace(of: request, isInDoubt: !request.isRepeatable))
  }

  private func start(after delay: Duration, _ act: @escaping @Sendable (RequestRun) -> Void) {
    let timer = time.schedule(after: delay) { [weak self] in
      if let self { act(self) }
    }
    let isWanted = state.withLock { state in
      if !state.ending.isOver { state.timers.append(timer) }
      return !state.ending.isOver
    }
    if !isWanted { timer.cancel() }
  }

  // MARK: Requests

  private func send() {
    let request = state.withLock { state -> HTTPRequest? in
      guard !state.ending.isOver, state.ending.reason == nil else { return nil }
      state.activity = .answer
      return state.pagination.request
    }
    guard let request else { return conclude(.stopped(nil), nil) }
    let exchange = client.send(request)
    let isEnding = state.withLock { state in
      state.activity = .exchange(exchange)
      return state.ending.reason
    }
    exchange.whenSettled { [self] result in
      guard let threads else { return settled(result) }
      do {
        try threads.submit { [self] in settled(result) }
      } catch {
        // Evaluated on the transport's thread: other requests wait meanwhile, but this one ends.
        settled(result)
      }
    }
    // It was asked to end before there was an exchange to cancel.
    if let isEnding { end(isEnding) }
  }

  private func settled(_ result: Result<HTTPResponse, HTTPFailure>) {
    let found = state.withLock { state -> (AttemptEnd.Status?, HTTPRequest)? in
      guard !state.ending.isOver else { return nil }
      state.activity = .answer
      return (state.ending.reason, state.pagination.request)
    }
    guard let (reason, request) = found else {
      // It was left behind: no further attempt will complete what it has saved.
      if case .failure(let failure) = result { failure.partial?.discard() }
      return
    }
    switch result {
    case .failure(let failure): fail(failure, of: request)
    case .success(let response):
      // A response after the end of the attempt's time is ignored.
      if let reason { return conclude(reason, nil) }
      answered(response, to: request)
    }
  }

  /// Requests the next page once the pools of the step allow another request.
  private func sendInTurn() {
    guard let turn = attempt.slots.waitForRate(of: attempt.instanceNumber) else { return send() }
    let reason = state.withLock { state in
      state.activity = .waiting
      return state.ending.reason
    }
    if let reason { return conclude(reason, nil) }
    turn.whenSettled { [self] _ in send() }
  }

  private func answered(_ response: HTTPResponse, to request: HTTPRequest) {
    // Nothing else changes this state meanwhile: responses arrive one at a time.
    var pagination = state.withLock { $0.pagination }
    let next = pagination.answered(response)
    state.withLock { [pagination] in $0.pagination = pagination }
    switch next {
    case .ask:
      log(response, to: request, isFailure: false)
      sendInTurn()
    case .done(let answer):
      log(response, to: request, isFailure: false)
      end(.answered, answer, of: request)
    case .pollLater(let pause, let answer):
      log(response, to: request, isFailure: false)
      pollLater(pause, answer, of: request)
    case .failed(let failure, let answer):
      log(response, to: request, isFailure: true)
      end(.failed(failure), answer, of: request)
    }
  }

  /// A server that asks for a longer delay gets it, up to a limit.
  private static let longestPause = Duration.seconds(600)

  private func pollLater(_ every: Duration, _ answer: Response, of request: HTTPRequest) {
    let now = WallClock.now.nanoseconds / 1_000_000_000
    let asked = answer.response.head.retryAfter(now: now) ?? .zero
    let pause = max(every, min(asked, Self.longestPause))
    if let limit = attempt.resolved.timeout, time.now - began + pause >= limit {
      return end(.timedOut(after: limit, nil), answer, of: request)
    }
    end(.pollsAgain(after: pause), answer, of: request)
  }

  private func fail(_ failure: HTTPFailure, of request: HTTPRequest) {
    var trace = RequestTrace(
      of: request, redirects: failure.redirects.count, figures: failure.figures,
      isInDoubt: failure.isInDoubt)
    trace.partial = failure.partial.map(PartialDownload.init)
    if failure.hasSent {
      attempt.output.keep(state.withLock { $0.log.text(of: failure, of: request) })
    }
    conclude(.failed(StepFailure(failure, of: request)), trace)
  }

  private func end(_ status: AttemptEnd.Status, _ answer: Response?, of request: HTTPRequest) {
    guard let answer else { return conclude(status, nil) }
    var trace = RequestTrace(summary: answer.summary)
    trace.answer = answer
    if case .failed = status { advise(&trace, answer.response.head, request) }
    conclude(status, trace)
  }

  /// Notes what a retry must respect.
  private func advise(
    _ trace: inout RequestTrace, _ head: HTTPResponseHead, _ request: HTTPRequest
  ) {
    let now = WallClock.now.nanoseconds / 1_000_000_000
    let advice = request.adviceOnRetry(
      after: head, isTransient: true, maxDelay: .seconds(Int64.max), now: now)
    switch advice {
    case .retry(let delay): trace.retryAfter = delay
    case .giveUp(.mayHaveBeenDone): trace.summary.isInDoubt = true
    case .giveUp: break
    }
  }

  /// Ends the attempt; the status counts only if it was not asked to end before.
  private func conclude(_ status: AttemptEnd.Status, _ trace: RequestTrace?) {
    let decision = state.withLock { $0.ending.actionEnded(status) }
    guard case .end(let status, _) = decision else { return }
    finish(status, trace)
  }

  private func finish(_ status: AttemptEnd.Status, _ trace: RequestTrace?) {
    let timers = state.withLock { state in
      defer { state.timers = [] }
      return state.timers
    }
    for timer in timers { timer.cancel() }
    progress?.close()
    var end = AttemptEnd(status)
    end.request = trace
    promise.succeed(end)
  }

  /// Logs a success only; the body of a failure is published as output as well, so that the server's message is
  /// visible.
  private func log(_ response: HTTPResponse, to request: HTTPRequest, isFailure: Bool) {
    let (head, body) = state.withLock {
      ($0.log.head(of: response, to: request.method), $0.log.body(of: response))
    }
    attempt.output.keep(isFailure ? head : head + body)
    if isFailure {
      body.withUnsafeBytes { attempt.output.write($0, to: .stdout, at: time.now) }
    }
  }
}

extension RequestTrace {
  /// The trace of a request without a response.
  fileprivate init(
    of request: HTTPRequest, redirects: Int = 0, figures: ExchangeFigures = ExchangeFigures(),
    isInDoubt: Bool
  ) {
    self.init(
      summary: HTTPSummary(
        method: request.method.name, url: request.url.description, status: nil,
        redirects: redirects, isInDoubt: isInDoubt, figures: figures))
  }
}

extension HTTPFailure {
  /// Whether there was anything to send: the request is valid, and the machine can send it.
  fileprivate var hasSent: Bool {
    switch kind {
    case .invalid, .unavailable: !redirects.isEmpty
    default: true
    }
  }
}

extension StepFailure {
  init(_ failure: HTTPFailure, of request: HTTPRequest) {
    self.init(
      classes: ErrorClass.classes(of: failure), message: failure.message, help: failure.help)
  }
}

extension ErrorClass {
  fileprivate static func classes(of failure: HTTPFailure) -> [ErrorClass] {
    switch failure.kind {
    // Nothing was sent: the request itself is invalid, or the machine cannot send it.
    case .invalid: [.expression]
    case .unavailable: [.spawn]
    case .proxy(let status): ErrorClass.classes(ofStatus: status)
    default:
      switch failure.errorClass {
      case let name where name.hasPrefix("network:"): [ErrorClass(unchecked: name), .network]
      case let name: [ErrorClass(unchecked: name)]
      }
    }
  }
}
