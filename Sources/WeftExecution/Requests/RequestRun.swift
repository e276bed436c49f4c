import Synchronization
import WeftDefinition
import WeftFutures
import WeftHTTP
import WeftPlatform

/// One attempt of a request and of those that follow from it: does what a ``RequestCourse`` decides.
final class RequestRun: Sendable {
  private struct State {
    var course: RequestCourse
    /// The request that is under way.
    var exchange: Future<HTTPResponse, HTTPFailure>?
    /// Why it is to end early.
    var ending: AttemptEnd.Status?
    var timer: TimerToken?
    var log = RequestLog()
  }

  let promise: Promise<AttemptEnd, Never>
  private let attempt: Attempt
  private let client: HTTPClient
  private let time: any TimeSource
  private let threads: FewThreads
  /// When the attempt began: of one that asks again, the first time.
  private let began: Duration
  private let state: Mutex<State>

  init(
    _ attempt: Attempt, _ course: RequestCourse, _ client: HTTPClient, time: any TimeSource,
    threads: FewThreads
  ) {
    self.attempt = attempt
    self.client = client
    self.time = time
    self.threads = threads
    began = attempt.task.polling?.since ?? time.now
    state = Mutex(State(course: course))
    promise = Promise(ifDropped: .success(AttemptEnd(.failed(.threadEnded))))
  }

  func begin() {
    if let limit = attempt.resolved.timeout {
      let timer = time.schedule(after: limit - (time.now - began)) { [weak self] in
        self?.endEarly(.timedOut(after: limit, nil))
      }
      state.withLock { $0.timer = timer }
    }
    attempt.stop.whenRequested { [weak self] in self?.endEarly(.stopped(nil)) }
    send()
  }

  /// The first reason counts.
  private func endEarly(_ status: AttemptEnd.Status) {
    let exchange = state.withLock { state in
      if state.ending == nil { state.ending = status }
      return state.exchange
    }
    exchange?.cancel()
  }

  private func send() {
    let request = state.withLock { $0.course.request }
    let exchange = client.send(request)
    let isEnding = state.withLock { state in
      state.exchange = exchange
      return state.ending != nil
    }
    if isEnding { exchange.cancel() }
    exchange.whenSettled { [self] result in
      do {
        try threads.submit { [self] in settled(result) }
      } catch {
        // Without a thread all others wait for this one, and it ends.
        settled(result)
      }
    }
  }

  private func settled(_ result: Result<HTTPResponse, HTTPFailure>) {
    let (ending, request) = state.withLock { ($0.ending, $0.course.request) }
    switch result {
    case .failure(let failure): fail(failure, of: request, ending)
    case .success(let response):
      // One that came at the last moment has come.
      if let ending, case .stopped = ending { return end(ending, nil, of: request) }
      answered(response, to: request)
    }
  }

  private func answered(_ response: HTTPResponse, to request: HTTPRequest) {
    // Nobody else asks the course: one answer comes at a time.
    var course = state.withLock { $0.course }
    let next = course.answered(response)
    state.withLock { [course] in $0.course = course }
    switch next {
    case .ask:
      log(response, isFailure: false)
      send()
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

  private func fail(
    _ failure: HTTPFailure, of request: HTTPRequest, _ ending: AttemptEnd.Status?
  ) {
    var trace = RequestTrace(
      summary: HTTPSummary(
        method: request.method.name, url: request.url.description, status: nil,
        redirects: failure.redirects.count, figures: failure.figures))
    trace.partial = failure.partial.map(PartialDownload.init)
    if failure.isInDoubt { trace.methodInDoubt = request.method.name }
    finish(ending ?? .failed(StepFailure(failure, of: request)), trace)
  }

  private func end(_ status: AttemptEnd.Status, _ answer: Answer?, of request: HTTPRequest) {
    guard let answer else { return finish(status, nil) }
    var trace = RequestTrace(summary: answer.summary)
    trace.answer = answer
    if case .failed = status { advise(&trace, answer.response.head, request) }
    finish(status, trace)
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

  private func finish(_ status: AttemptEnd.Status, _ trace: RequestTrace?) {
    state.withLock { state in
      defer { state.timer = nil }
      return state.timer
    }?.cancel()
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
