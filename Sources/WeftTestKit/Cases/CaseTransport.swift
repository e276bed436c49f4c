import Synchronization
import WeftCurl
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftFutures
import WeftHTTP
import WeftJSON
import WeftPlanning
import WeftPlatform

/// Answers requests by the scripts of their steps, at virtual times. No socket is opened, and no file is written.
final class CaseTransport: AttemptTransport {
  private let world: CaseWorld
  /// The number of requests of each attempt so far; one that polls goes on.
  fileprivate let network = CurlTransport()
  private let counts = Mutex<[StepAddress: (execution: Int, requests: Int)]>([:])

  var leavesNoFiles: Bool { true }

  init(_ world: CaseWorld) { self.world = world }

  func serving(_ attempt: Attempt) -> any Transport {
    if !attempt.isPollingAgain { counts.withLock { $0[attempt.address] = (attempt.number, 0) } }
    let record = world.begin(
      CaseRecord.Attempt(address: attempt.address, number: attempt.number))
    return ServedTransport(
      transport: self, step: attempt.address, record: record,
      result: world.currentResult(of: attempt.address))
  }

  func exchange(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    preconditionFailure("a request belongs to an attempt")
  }

  fileprivate func nextNumber(of step: StepAddress) -> Int {
    counts.withLock { counts in
      counts[step, default: (1, 0)].requests += 1
      return counts[step, default: (1, 0)].requests
    }
  }

  fileprivate func answer(
    _ request: WireRequest, with response: ScriptedResponse?, of served: ServedTransport,
    _ plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    let promise = Promise<HTTPExchange, HTTPFailure>()
    let begun = world.time.now
    let (length, failure) = course(of: request, response)
    let due = length.map { begun + $0 }
    let number = due.map { due in
      world.agenda.add(at: due) {
        promise.settle(
          failure.map { .failure($0) } ?? CaseTransport.settled(response, request, plan))
      }
    }
    promise.onCancel { [world] promise in
      if let number { world.agenda.cancel(number) }
      world.agenda.add(at: world.time.now) { promise.fail(HTTPFailure(.cancelled)) }
    }
    // An exchange without an end lives as long as the world.
    if number == nil { world.agenda.keep(promise) }
    return promise.future
  }

  /// The time that an exchange takes, and its failure; the time is `nil` if it never ends by itself.
  private func course(
    of request: WireRequest, _ response: ScriptedResponse?
  ) -> (length: Duration?, failure: HTTPFailure?) {
    let length = response.map { $0.duration ?? .zero }
    let deadlines: [(HTTPFailure.Deadline, Duration?)] = [
      (.total, request.deadlines.total), (.idle, request.deadlines.idle),
    ]
    let limit = deadlines.compactMap { name, limit in limit.map { (name, $0) } }
      .min { $0.1 < $1.1 }
    if let (name, limit) = limit, length.map({ limit <= $0 }) ?? true {
      return (
        limit,
        HTTPFailure(.timeout(name, after: limit), isInDoubt: !request.isRepeatable)
      )
    }
    guard let failure = response?.failure else { return (length, nil) }
    return (length, HTTPFailure(failure.kind(of: request), isInDoubt: failure.isInDoubt(request)))
  }

  private static func settled(
    _ response: ScriptedResponse?, _ request: WireRequest,
    _ plan: (HTTPResponseHead) -> BodyPlan
  ) -> Result<HTTPExchange, HTTPFailure> {
    guard let response else { return .failure(HTTPFailure(.empty)) }
    var headers = HTTPHeaders(response.headers.map { HTTPHeader($0.name, $0.value) })
    var body = Array(response.body.utf8)
    if let json = response.json {
      body = Array(json.description.utf8)
      headers.addIfMissing(HTTPHeader("Content-Type", "application/json"))
    }
    if request.method == .head { body = [] }
    let head = HTTPResponseHead(status: response.status, headers: headers)
    let bodyPlan = plan(head)
    // Nothing is written: a test leaves no files behind.
    if case .write = bodyPlan { return .success(HTTPExchange(head: head)) }
    return StubTransport.receive(head, body, by: bodyPlan)
  }
}

/// The transport of one attempt.
private struct ServedTransport: Transport {
  let transport: CaseTransport
  let step: StepAddress
  let record: Int
  let result: ScriptedResult?

  func exchange(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    transport.record(request, at: record)
    if result?.isReal == true { return transport.exchangeReally(request, answering: plan) }
    let number = transport.nextNumber(of: step)
    guard let responses = result?.responses else {
      return transport.answer(request, with: nil, of: self, plan)
    }
    if result?.repeatsResponse == true {
      return transport.answer(request, with: responses[0], of: self, plan)
    }
    guard number <= responses.count else {
      transport.refuse(request, number, of: step)
      return Future(failure: HTTPFailure(.other("request \(number) has no scripted response")))
    }
    return transport.answer(request, with: responses[number - 1], of: self, plan)
  }
}

extension CaseTransport {
  fileprivate func record(_ request: WireRequest, at index: Int) {
    var body: [UInt8] = []
    for segment in request.body?.segments ?? [] {
      switch segment {
      case .bytes(let bytes): body += bytes
      case .file(let path): body += Array("[file \(path)]".utf8)
      }
    }
    let seen = CaseRecord.Request(
      method: request.method.name, url: request.url.description,
      headers: request.headers.map { ($0.name, $0.value) }, body: body)
    world.change { $0.attempts[index].requests.append(seen) }
  }

  /// Sends a request over the network.
  fileprivate func exchangeReally(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    let promise = Promise<HTTPExchange, HTTPFailure>()
    world.beginReal()
    let exchange = network.exchange(request, answering: plan)
    promise.onCancel { exchange.cancel() }
    exchange.whenSettled { [world] result in world.endReal { promise.settle(result) } }
    return promise.future
  }

  fileprivate func refuse(_ request: WireRequest, _ number: Int, of step: StepAddress) {
    world.reportUnscripted(
      step, "send request \(number), \(request.method.name) \(request.url.description)",
      help: "add a response to its \"http\"")
  }
}

extension ErrorClass.NetworkPart {
  fileprivate func kind(of request: WireRequest) -> HTTPFailure.Kind {
    switch self {
    case .dns: .dns(host: request.url.host)
    case .connect: .connect(to: request.url.host, why: "connection refused")
    case .tls: .tls(.handshake, why: "handshake failed")
    case .reset: .reset(why: "connection reset by peer")
    case .read: .partial(received: 0, expected: nil)
    }
  }

  /// Whether the server may have processed the request.
  fileprivate func isInDoubt(_ request: WireRequest) -> Bool {
    switch self {
    case .dns, .connect, .tls: false
    case .reset, .read: !request.isRepeatable
    }
  }
}
