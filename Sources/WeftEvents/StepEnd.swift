package import WeftDefinition
public import WeftHTTP

/// The end of a step that started.
public struct StepEnd: Sendable, Hashable {
  public package(set) var outcome: Outcome
  /// `success` for a tolerated failure, else the outcome.
  public package(set) var conclusion: Outcome
  /// Whether it wrote more than its log holds (`logLimit`); the excess is in no event either.
  public package(set) var outputTruncated: Bool
  /// The number of attempts.
  public package(set) var attempts: Int
  /// The exit of the last attempt's program; `nil` if it could not be started, or if the step has none.
  public package(set) var exit: ProgramExit?
  /// From `stepStarted` to `stepFinished`; without waiting for a slot.
  public package(set) var duration: Duration
  /// Bytes written to stdout and stderr together.
  public package(set) var outputBytes: UInt64
  /// The length of the step's log, including the note about truncation.
  package private(set) var logBytes: UInt64
  /// The outputs of the step.
  public package(set) var outputs: [ReportedOutput]
  // A report keeps the ends of very many steps, most of which have none of the rest.
  package var boxedUsage: Boxed<ResourceUsage>?
  private var boxedRest: Boxed<Rest>?

  /// The usage that the kernel counted for the program and all reaped children; `nil` if there was no program.
  public var usage: ResourceUsage? { boxedUsage?.value }
}

extension StepEnd {
  package init(
    outcome: Outcome, conclusion: Outcome, attempts: Int, exit: ProgramExit?,
    failure: StepFailure? = nil, cancellation: CancelReason? = nil, duration: Duration,
    usage: ResourceUsage? = nil, outputBytes: UInt64 = 0, outputTruncated: Bool = false,
    logBytes: UInt64? = nil, outputs: [ReportedOutput] = [], leftovers: [LeftoverProcess] = [],
    unkillable: [LeftoverProcess] = []
  ) {
    let isPlain =
      failure == nil && cancellation == nil && leftovers.isEmpty && unkillable.isEmpty
    // Uses the memberwise initialiser: see ``ResolvedStep``.
    self.init(
      outcome: outcome, conclusion: conclusion, outputTruncated: outputTruncated,
      attempts: attempts, exit: exit, duration: duration, outputBytes: outputBytes,
      logBytes: logBytes ?? outputBytes, outputs: outputs,
      boxedUsage: usage.map { .holding($0) },
      boxedRest: isPlain
        ? nil
        : .holding(
          Rest(
            failure: failure, cancellation: cancellation, leftovers: leftovers,
            unkillable: unkillable)))
  }
}

extension StepEnd {
  private struct Rest: Sendable, Hashable {
    var http: HTTPSummary?
    var failure: StepFailure?
    var cancellation: CancelReason?
    var notRetried: String?
    var approvedBy: String?
    var ranBecause: String?
    var host: String?
    var leftovers: [LeftoverProcess] = []
    var unkillable: [LeftoverProcess] = []
  }

  /// A copy with this summary of the step's requests.
  package func having(_ http: HTTPSummary?) -> StepEnd {
    guard let http else { return self }
    var end = self
    end.http = http
    return end
  }

  private var rest: Rest {
    get { boxedRest?.value ?? Rest() }
    set { boxedRest = newValue == Rest() ? nil : .holding(newValue) }
  }

  /// The summary of its HTTP requests; `nil` if it has sent none.
  public package(set) var http: HTTPSummary? {
    get { boxedRest?.value.http }
    set { rest.http = newValue }
  }

  /// The reason why it failed; `nil` unless the outcome is `failure`.
  public package(set) var failure: StepFailure? {
    get { boxedRest?.value.failure }
    set { rest.failure = newValue }
  }

  /// The reason why it was cancelled; `nil` unless the outcome is `cancelled`.
  public var cancellation: CancelReason? { boxedRest?.value.cancellation }

  /// The approver of a step that asked for approval: a user and the channel, or the embedding program.
  public package(set) var approvedBy: String? {
    get { boxedRest?.value.approvedBy }
    set { if newValue != nil || approvedBy != nil { rest.approvedBy = newValue } }
  }

  /// The reason why no cached result replaced a step with `cache`, as a clause: `inputs changed: main.c`; `nil` for
  /// other steps, and if the cache could not be asked.
  public package(set) var ranBecause: String? {
    get { boxedRest?.value.ranBecause }
    set { if newValue != nil || ranBecause != nil { rest.ranBecause = newValue } }
  }

  /// The host that ran its last attempt, as the runner names it; `nil` for this machine and jobs.
  public package(set) var host: String? {
    get { boxedRest?.value.host }
    set { if newValue != nil || host != nil { rest.host = newValue } }
  }

  /// The reason why it is not retried though it has `retry`, as a clause without subject.
  public package(set) var notRetried: String? {
    get { boxedRest?.value.notRetried }
    set { rest.notRetried = newValue }
  }

  /// Whether its request may have been performed although the step failed or was cancelled.
  package var hasRequestInDoubt: Bool { conclusion != .success && http?.isInDoubt == true }

  /// Orphans: processes of the step that were still alive after its program had ended, and were terminated.
  public package(set) var leftovers: [LeftoverProcess] {
    get { boxedRest?.value.leftovers ?? [] }
    set { rest.leftovers = newValue }
  }

  /// Processes of the step that are still alive because they could not be killed.
  public package(set) var unkillable: [LeftoverProcess] {
    get { boxedRest?.value.unkillable ?? [] }
    set { rest.unkillable = newValue }
  }
}

extension StepEnd: Payload {
  package static var blank: StepEnd {
    StepEnd(outcome: .success, conclusion: .success, attempts: 1, exit: nil, duration: .zero)
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var (usage, rest) = (usage, rest)
    try coder.code("outcome", &outcome)
    try coder.code("conclusion", &conclusion)
    try coder.count("attempts", &attempts)
    try coder.code("exit", &exit)
    try coder.code("failure", &rest.failure)
    try coder.code("cancellation", &rest.cancellation)
    try coder.code("durationUs", &duration)
    try coder.code("usage", &usage)
    try coder.code("http", &rest.http)
    try coder.code("notRetried", &rest.notRetried)
    try coder.code("approvedBy", &rest.approvedBy)
    try coder.code("ranBecause", &rest.ranBecause)
    try coder.code("host", &rest.host)
    try coder.amount("outputBytes", &outputBytes)
    try coder.flag("outputTruncated", &outputTruncated)
    try coder.outputs(&outputs)
    try coder.codeIfAny("leftovers", &rest.leftovers)
    try coder.codeIfAny("unkillable", &rest.unkillable)
    // Only a journal says so; the log of an event's reader is elsewhere.
    if coder.isJournal, coder.member("logBytes", isPresent: logBytes != outputBytes) {
      var bytes = Int(clamping: logBytes)
      try coder.number(&bytes, in: RecordLimits.amounts, "an amount")
      if Coder.isReading { logBytes = UInt64(bytes) }
    } else if Coder.isReading {
      logBytes = outputBytes
    }
    guard Coder.isReading else { return }
    boxedUsage = usage.map { .holding($0) }
    self.rest = rest
  }
}

/// A summary of the HTTP requests of a step's last attempt.
public struct HTTPSummary: Sendable, Hashable {
  /// The method of the last request, which redirects may have changed.
  public package(set) var method: String
  /// The URL of the last response, without user and password; the requested URL if there was none.
  public package(set) var url: String
  /// `nil` if there was no response.
  public package(set) var status: Int?
  /// The number of redirects followed.
  public package(set) var redirects: Int
  /// The file that the body was saved to; `nil` if it was not saved.
  public package(set) var savedTo: String?
  /// The role of the HTTP cache: `hit`, `revalidated`, `miss` or `stale`; `nil` if no cache was involved.
  public package(set) var cache: String?
  /// The reason why a stale response was used: usually the error of the request.
  public package(set) var staleReason: String?
  /// The number of pages that were read; `nil` if the request reads no pages.
  public package(set) var pages: Int?
  /// Whether the server may have performed the request although its response did not arrive, or is that of a gateway
  /// that lost it, and sending it again is not safe.
  public package(set) var isInDoubt: Bool
  /// Bytes, times and the connection; for several requests, the total bytes and the last one's times.
  public package(set) var figures: ExchangeFigures

  package init(
    method: String, url: String, status: Int?, redirects: Int = 0, savedTo: String? = nil,
    cache: String? = nil, staleReason: String? = nil, pages: Int? = nil,
    isInDoubt: Bool = false, figures: ExchangeFigures
  ) {
    self.method = method
    self.url = url
    self.status = status
    self.redirects = redirects
    self.savedTo = savedTo
    self.cache = cache
    self.staleReason = staleReason
    self.pages = pages
    self.isInDoubt = isInDoubt
    self.figures = figures
  }
}

extension HTTPSummary: Payload {
  package static var blank: HTTPSummary {
    HTTPSummary(method: "", url: "", status: nil, figures: ExchangeFigures())
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("method", &method)
    try coder.code("url", &url)
    try coder.number("status", &status, in: 0...999, "a status")
    // A fresh response from the cache needs no request.
    try coder.count("requests", &figures.requests, from: 0)
    try coder.countIfAny("redirects", &redirects)
    try coder.code("savedTo", &savedTo)
    try coder.code("cache", &cache)
    try coder.code("staleReason", &staleReason)
    try coder.number("pages", &pages, in: RecordLimits.amounts, "a number of pages")
    try coder.flag("inDoubt", &isInDoubt)
    try coder.amount("bytesSent", &figures.bodyBytesSent)
    try coder.amount("bytesReceived", &figures.bodyBytesReceived)
    try coder.amount("headerBytesReceived", &figures.headerBytesReceived)
    try coder.code("address", &figures.remoteAddress)
    try coder.number("port", &figures.remotePort, in: 0...65_535, "a port")
    try coder.code("protocol", &figures.protocolVersion)
    try coder.code("dnsUs", &figures.timings.nameResolved)
    try coder.code("connectUs", &figures.timings.connected)
    try coder.code("tlsUs", &figures.timings.secured)
    try coder.code("firstByteUs", &figures.timings.firstByte)
    try coder.code("totalUs", &figures.timings.total)
  }
}
