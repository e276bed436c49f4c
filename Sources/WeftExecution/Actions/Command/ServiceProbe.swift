import Synchronization
package import WeftDefinition
import WeftEvents
package import WeftFutures
import WeftHTTP
import WeftPatterns
import WeftPlanning
package import WeftPlatform

/// Asks again and again whether a service is ready: at first after a moment, later once a second.
final class ServiceProbe: Sendable {
  typealias Question = @Sendable () -> Future<Bool, Never>

  private static let shortest = Duration.milliseconds(20)
  private static let longest = Duration.seconds(1)

  private let ask: Question
  private let time: any TimeSource
  private let promise = Promise<Bool, Never>(ifDropped: .success(false))
  private let isStopped = Mutex(false)

  init(time: any TimeSource, asking ask: @escaping Question) {
    self.ask = ask
    self.time = time
  }

  /// - Parameter stop: Ends the search.
  /// - Returns: Whether it is ready; `false` only after a stop was requested.
  func begin(until stop: StopSwitch) -> Future<Bool, Never> {
    stop.whenRequested { [self] in
      isStopped.withLock { $0 = true }
      promise.succeed(false)
    }
    askAgain(after: ServiceProbe.shortest)
    return promise.future
  }

  private func askAgain(after delay: Duration) {
    _ = time.schedule(after: delay) { [self] in
      if isStopped.withLock({ $0 }) { return }
      ask().whenSettled { [self] answer in
        guard !answer.get() else {
          promise.succeed(true)
          return
        }
        askAgain(after: min(delay * 2, ServiceProbe.longest))
      }
    }
  }
}

extension CommandExecutor {
  package func probe(
    _ attempt: Attempt, for service: Command.Service, stop: StopSwitch
  ) -> Future<Bool, Never> {
    switch service.ready {
    case .log:
      // On another thread: that of the program's output is needed for further output.
      return (attempt.output.watcher?.found(until: stop) ?? .never(stop)).flatMap {
        [threads] sign in
        threads.run(ifNotRun: sign) { sign }
      }
    case .tcp(let address):
      guard let (host, port) = Command.Service.endpoint(address) else { return .never(stop) }
      return ServiceProbe(time: time) { [threads] in
        threads.run(ifNotRun: false) {
          TCPConnection.isAccepted(at: host, port: port, milliseconds: 1_000)
        }
      }.begin(until: stop)
    case .http(let text):
      guard let url = try? HTTPURL(text) else { return .never(stop) }
      var request = HTTPRequest(url)
      request.deadlines = HTTPDeadlines(total: .seconds(5))
      request.redirects.limit = 0
      // The status suffices: the body may be a stream without an end.
      request.maxBytes = 1
      request.expectedStatus = StatusExpectation([.hundreds(2), .hundreds(3)])
      let client = HTTPClient(transport: probeTransport)
      return ServiceProbe(time: time) { [request] in
        client.send(request).map { Optional($0.head) }.recover { $0.response?.head }.map { head in
          head.map { (200..<400).contains($0.status) } ?? false
        }
      }.begin(until: stop)
    case .run(let invocation):
      return ServiceProbe(time: time) { [self] in
        threads.run(ifNotRun: false) { [self] in succeeds(invocation, for: attempt, stop: stop) }
      }.begin(until: stop)
    }
  }

  /// Runs a service's probe, in the directory and environment of the service.
  private func succeeds(
    _ invocation: Command.Invocation, for attempt: Attempt, stop: StopSwitch
  ) -> Bool {
    guard var program = try? resolver.program(for: attempt) else { return false }
    program.arguments = Command(invocation).arguments(shell: plan.shell(of: attempt.step))
    program.timeout = .seconds(10)
    let cookie = resolver.cookie(of: attempt.address, attempt: attempt.number)
    guard let enclosure = try? enclosing.enclose(cookie: cookie) else { return false }
    program.enclosure = enclosure
    do throws(SpawnError) {
      let end = try program.run(stop: stop) { _, _ in }
      return AttemptEnd(end, of: program).status == .ended(.code(0))
    } catch {
      enclosure.abandoned()
      return false
    }
  }
}

/// Looks for a match of a pattern in the lines of a service's output, secrets masked.
final class LineWatcher: Sendable {
  private let pattern: Pattern
  private let promise: Promise<Bool, Never>

  /// `nil` unless the service says in its output that it is ready.
  init?(_ service: Command.Service?) {
    guard case .log(let text)? = service?.ready, let pattern = try? Pattern(text) else {
      return nil
    }
    self.pattern = pattern
    promise = Promise(ifDropped: .success(false))
  }

  deinit { promise.succeed(false) }

  func look(at lines: [StepOutput]) {
    guard !promise.future.isSettled else { return }
    let isFound = lines.contains { line in
      line.ending != .transient && pattern.matches(in: String(decoding: line.bytes, as: UTF8.self))
    }
    if isFound { promise.succeed(true) }
  }

  func found(until stop: StopSwitch) -> Future<Bool, Never> {
    stop.whenRequested { [promise] in promise.succeed(false) }
    return promise.future
  }
}

extension Future<Bool, Never> {
  /// For an address that expressions made, and that is none: the service is not ready in time.
  fileprivate static func never(_ stop: StopSwitch) -> Future {
    let promise = Promise<Bool, Never>(ifDropped: .success(false))
    stop.whenRequested { promise.succeed(false) }
    return promise.future
  }
}
