import Synchronization
import WeftDefinition
import WeftFutures
import WeftHTTP
import WeftPlatform

/// One attempt of a request and of those that follow from it: does what a ``RequestCourse`` and an
/// ``ActionEnding`` decide.
final class RequestRun: Sendable {
  /// What is under way.
  private enum Activity {
    /// The turn for the next request is awaited.
    case waiting
    case exchange(Future<HTTPResponse, HTTPFailure>)
    /// An answer is being looked at, which takes no long time: the attempt is not left meanwhile.
    case answer
  }

  private struct State {
    var course: RequestCourse
    var activity = Activity.waiting
    var ending = ActionEnding()
    /// Of the time limit, and of the grace.
    var timers: [TimerToken] = []
    var log = RequestLog()
  }

  let promise: Promise<AttemptEnd, Never>
  private let attempt: Attempt
  private let client: HTTPClient
  private let time: any TimeSource
  private let grace: Duration
  private let threads: FewThreads
  /// When the attempt began: of one that asks again, the first time.
  private let began: Duration
  private let state: Mutex<State>

  /// How long a transport may take to end a request of a run that is killed: no longer than one of libcurl needs.
  private static let longestGraceOfKilled = Duration.milliseconds(500)

  /// - Parameter grace: How long a transport may take to end a request that is cancelled.
  init(
    _ attempt: Attempt, _ course: RequestCourse, _ client: HTTPClient, time: any TimeSource,
    grace: Duration, threads: FewThreads
  ) {
    self.attempt = attempt
    self.client = client
    self.time = time
    self.grace = grace
    self.threads = threads
    began = attempt.task.polling?.since ?? time.now
    state = Mutex(State(course: course))
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

  /// Asks the request to end; the first reason counts, and the shortest grace.
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

  /// The grace has passed, and the transport has not ended the request: the attempt ends without it.
  private func leave() {
    let left = state.withLock { state -> (AttemptEnd.Status, HTTPRequest)? in
      guard case .exchange = state.activity,
        case .end(let status, _) = state.ending.gracePassed()
      else { return nil }
      return (status, state.course.request)
    }
    guard let (status, request) = left else { return }
    attempt.warnings.tell(.requestLeftBehind(by: attempt.address))
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
      return state.course.request
    }
    guard let request else { return conclude(.stopped(nil), nil) }
    let exchange = client.send(request)
    let isEnding = state.withLock { state in
      state.activity = .exchange(exchange)
      return state.ending.reason
    }
    exchange.whenSettled { [self] result in
      do {
        try threads.submit { [self] in settled(result) }
      } catch {
        // Without a thread all others wait for this one, and it ends.
        settled(result)
      }
    }
    // It was asked to end before there was anything to cancel.
    if let isEnding { end(isEnding) }
  }

  private func settled(_ result: Result<HTTPResponse, HTTPFailure>) {
    let found = state.withLock { state -> (AttemptEnd.Status?, HTTPRequest)? in
      guard !state.ending.isOver else { return nil }
      state.activity = .answer
      return (state.ending.reason, state.course.request)
    }
    guard let (reason, request) = found else {
      // It was left behind: nobody goes on with what it has saved.
      if case .failure(let failure) = result { failure.partial?.discard() }
      return
    }
    switch result {
    case .failure(let failure): fail(failure, of: request)
    case .success(let response):
      // What comes after the end of the attempt's time has not come.
      if let reason { return conclude(reason, nil) }
      answered(response, to: request)
    }
  }

  /// The next page is asked for when the pools of the step allow another request.
  private func sendInTurn() {
    guard let turn = attempt.slots.anotherTurn(of: attempt.instance) else { return send() }
    let reason = state.withLock { state in
      state.activity = .waiting
      return state.ending.reason
    }
    if let reason { return conclude(reason, nil) }
    turn.whenSettled { [self] _ in send() }
  }

  private func answered(_ response: HTTPResponse, to request: HTTPRequest) {
    // Nobody else asks the course: one answer comes at a time.
    var course = state.withLock { $0.course }
    let next = course.answered(response)
    state.withLock { [course] in $0.course = course }
    switch next {
    case .ask:
      log(response, isFailure: false)
      sendInTurn()
    case .done(let answer):
      log(response, isFailure: false)
      end(.answered, answer, of: request)
    case .askLater(let pause, let answer):
      log(response, isFailure: false)
      askLater(pause, answer, of: request)
    case .failed(let failure, let answer):
      log(response, isFailure: true)
      end(.failed(failure), answer, of: request)
    }
  }

  private func askLater(_ pause: Duration, _ answer: Answer, of request: HTTPRequest) {
    if let limit = attempt.resolved.timeout, time.now - began + pause >= limit {
      return end(.timedOut(after: limit, nil), answer, of: request)
    }
    end(.asksAgain(after: pause), answer, of: request)
  }

  private func fail(_ failure: HTTPFailure, of request: HTTPRequest) {
    var trace = RequestTrace(
      of: request, redirects: failure.redirects.count, figures: failure.figures,
      isInDoubt: failure.isInDoubt)
    trace.partial = failure.partial.map(PartialDownload.init)
    conclude(.failed(StepFailure(failure, of: request)), trace)
  }

  private func end(_ status: AttemptEnd.Status, _ answer: Answer?, of request: HTTPRequest) {
    guard let answer else { return conclude(status, nil) }
    var trace = RequestTrace(summary: answer.summary)
    trace.answer = answer
    if case .failed = status { advise(&trace, answer.response.head, request) }
    conclude(status, trace)
  }

  /// What is to be heeded if it is tried again.
  private func advise(
    _ trace: inout RequestTrace, _ head: HTTPResponseHead, _ request: HTTPRequest
  ) {
    let now = WallClock.now.nanoseconds / 1_000_000_000
    let advice = request.adviceOnRetry(
      after: head, isTransient: true, maxDelay: .seconds(Int64.max), now: now)
    switch advice {
    case .retry(let delay): trace.retryAfter = delay
    case .giveUp(.mayHaveBeenDone(let method)): trace.methodInDoubt = method.name
    case .giveUp: break
    }
  }

  /// The attempt has come to an end, which counts if it was not asked to end before.
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
    var end = AttemptEnd(status)
    end.request = trace
    promise.succeed(end)
  }

  /// What went well is in the log alone; of what did not, people are told at once what the server says.
  private func log(_ response: HTTPResponse, isFailure: Bool) {
    let (head, body) = state.withLock { ($0.log.head(of: response), $0.log.body(of: response)) }
    attempt.output.keep(isFailure ? head : head + body)
    if isFailure {
      body.withUnsafeBytes { attempt.output.write($0, to: .stdout, at: time.now) }
    }
  }
}

extension RequestTrace {
  /// Of a request without an answer.
  fileprivate init(
    of request: HTTPRequest, redirects: Int = 0, figures: ExchangeFigures = ExchangeFigures(),
    isInDoubt: Bool
  ) {
    self.init(
      summary: HTTPSummary(
        method: request.method.name, url: request.url.description, status: nil,
        redirects: redirects, figures: figures))
    if isInDoubt { methodInDoubt = request.method.name }
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
    // Nothing was sent: the request by itself is at fault, or the machine.
    case .invalid: [.expression]
    case .unavailable: [.spawn]
    default:
      switch failure.errorClass {
      case let name where name.hasPrefix("network:"): [ErrorClass(unchecked: name), .network]
      case let name: [ErrorClass(unchecked: name)]
      }
    }
  }
}
