import WeftDefinition
package import WeftEvents
import WeftHTTP
import WeftPlatform

/// Names of attributes: those of the semantic conventions of OpenTelemetry where they have one, else below `weft.`.
package enum AttributeKey {
  package static let pipeline = "cicd.pipeline.name"
  package static let pipelineRun = "cicd.pipeline.run.id"
  package static let pipelineAction = "cicd.pipeline.action.name"
  package static let pipelineResult = "cicd.pipeline.result"
  package static let task = "cicd.pipeline.task.name"
  package static let taskRun = "cicd.pipeline.task.run.id"
  package static let taskResult = "cicd.pipeline.task.run.result"
  package static let errorType = "error.type"
  package static let exitCode = "process.exit.code"

  /// The kind of a span: `run`, `group`, `step`, `attempt` or `wait`.
  package static let span = "weft.span"
  package static let address = "weft.address"
  package static let action = "weft.action"
  package static let outcome = "weft.outcome"
  package static let conclusion = "weft.conclusion"
  package static let attempt = "weft.attempt"
  package static let attempts = "weft.attempts"
  package static let elements = "weft.elements"
  package static let isCached = "weft.cached"
  package static let isRestored = "weft.restored"
  package static let skipReason = "weft.skip.reason"
  package static let exitSignal = "weft.exit.signal"
  package static let outputBytes = "weft.output.bytes"
  package static let userTime = "weft.cpu.user_us"
  package static let systemTime = "weft.cpu.system_us"
  package static let peakMemory = "weft.memory.peak_bytes"
  package static let approver = "weft.approved_by"
  package static let pools = "weft.pools"
  package static let resumption = "weft.resumption"
  package static let file = "weft.file"
  package static let maxParallel = "weft.max_parallel"
}

/// The result of a run or task in the words of the conventions.
enum ResultWord {
  static let skip = "skip"
  /// A word of Weft's own: the run waits for an approval, without an engine.
  static let suspended = "suspended"

  static func word(
    of outcome: Outcome, _ failure: StepFailure?, cancelledFor reason: CancelReason? = nil
  ) -> String {
    switch outcome {
    case .success: "success"
    case .skipped: skip
    case .cancelled:
      switch reason {
      case .runTimeout, .groupTimeout: "timeout"
      default: "cancellation"
      }
    case .failure:
      if failure?.classes.contains(.timeout) == true {
        "timeout"
      } else if failure?.classes.contains(where: { [.inDoubt, .lost].contains($0) }) == true {
        // Failures of Weft's surroundings, not of the step.
        "error"
      } else {
        "failure"
      }
    }
  }
}

extension Span {
  /// Sets the attributes and the status of an ended task: a step, an attempt or a group.
  mutating func conclude(
    _ outcome: Outcome, as conclusion: Outcome, _ failure: StepFailure?,
    cancelledFor reason: CancelReason? = nil
  ) {
    attributes.add(
      AttributeKey.taskResult, ResultWord.word(of: outcome, failure, cancelledFor: reason))
    attributes.add(AttributeKey.outcome, outcome.rawValue)
    if conclusion != outcome { attributes.add(AttributeKey.conclusion, conclusion.rawValue) }
    fail(failure, counts: conclusion == .failure)
  }

  /// - Parameter counts: Whether the failure counts; the status of a tolerated one is not an error.
  mutating func fail(_ failure: StepFailure?, counts: Bool) {
    guard let failure else { return }
    attributes.add(AttributeKey.errorType, failure.classes.first?.name ?? "_OTHER")
    if counts { status = .error(failure.message) }
  }

  mutating func describe(_ exit: ProgramExit?, _ usage: ResourceUsage?) {
    switch exit {
    case .code(let code): attributes.add(AttributeKey.exitCode, code)
    case .signal(let name): attributes.add(AttributeKey.exitSignal, name)
    case nil: break
    }
    guard let usage else { return }
    attributes.add(AttributeKey.userTime, usage.userTime.wholeMicroseconds)
    attributes.add(AttributeKey.systemTime, usage.systemTime.wholeMicroseconds)
    attributes.add(AttributeKey.peakMemory, usage.peakMemoryBytes)
  }

  /// Sets the attributes of an attempt that sent requests, by the conventions for HTTP clients.
  mutating func describe(_ http: HTTPSummary?) {
    guard let http else { return }
    attributes.add("http.request.method", http.method)
    attributes.add("http.response.status_code", http.status)
    attributes.add("url.full", http.url)
    if let url = try? HTTPURL(http.url) {
      attributes.add("server.address", url.host)
      attributes.add("server.port", url.port)
    }
    attributes.add("network.peer.address", http.figures.remoteAddress)
    attributes.add("network.peer.port", http.figures.remotePort)
    let version = http.figures.protocolVersion?.split(separator: "/").last.map(String.init)
    attributes.add("network.protocol.version", version)
    attributes.add("http.response.body.size", http.figures.bodyBytesReceived)
    if http.redirects > 0 { attributes.add("http.request.resend_count", http.redirects) }
  }
}

extension SkipReason {
  /// One word, as in events.
  var word: String {
    switch self {
    case .dependencyFailed: "dependencyFailed"
    case .heldBack: "heldBack"
    case .cancelled: "cancelled"
    case .condition: "condition"
    case .notSelected: "notSelected"
    }
  }
}

/// One operation of a trace, ended: the model of OTLP's `Span`, as far as Weft uses it.
package struct Span: Sendable, Hashable {
  /// The values of OTLP's `SpanKind`.
  package enum Kind: UInt64, Sendable, Hashable {
    case `internal` = 1
    case server
    case client
  }

  package enum Status: Sendable, Hashable {
    case unset
    case error(String)
  }

  package var id: SpanID
  /// `nil` for a span without a parent in its trace.
  package var parent: SpanID?
  /// Whether the parent is a span of another program.
  package var hasRemoteParent = false
  package var name: String
  package var kind = Kind.internal
  /// Since the start of the run.
  package var start: Duration
  package var end: Duration
  package var attributes: [SpanAttribute] = []
  package var status = Status.unset
  package var links: [TraceContext] = []

  package init(_ id: SpanID, _ name: String, below parent: SpanID?, at start: Duration) {
    (self.id, self.name, self.parent) = (id, name, parent)
    (self.start, end) = (start, start)
  }

  package subscript(key: String) -> SpanAttribute.Value? {
    attributes.first { $0.key == key }?.value
  }
}

/// A property of a span or of what sends it.
package struct SpanAttribute: Sendable, Hashable {
  package enum Value: Sendable, Hashable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case texts([String])
  }

  package let key: String
  package let value: Value

  package init(_ key: String, _ value: Value) {
    (self.key, self.value) = (key, value)
  }

  package init(_ key: String, _ text: String) { self.init(key, .text(text)) }
}

extension [SpanAttribute] {
  /// Adds an attribute, unless there is no value.
  mutating func add(_ key: String, _ text: String?) {
    if let text { append(SpanAttribute(key, text)) }
  }

  mutating func add(_ key: String, _ number: Int?) {
    if let number { append(SpanAttribute(key, .number(number))) }
  }

  /// Adds a flag that is set.
  mutating func add(_ key: String, if flag: Bool) {
    if flag { append(SpanAttribute(key, .flag(true))) }
  }
}
