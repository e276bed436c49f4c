import Synchronization
public import WeftEvents
import WeftHTTP
public import WeftPlanning
import WeftPlatform

/// The identities of the spans of a run under one engine, shared by the engine, whose steps must know the spans of their
/// attempts, and by what turns events into spans.
///
/// Each start of an attempt makes a span before its event is published, and the reader of the events takes it: both see
/// the attempts of a step in one order.
public final class RunTrace: Sendable {
  /// The span of the run under this engine.
  public let context: TraceContext
  /// The parent of that span; `nil` if it has none in its trace.
  public let parent: TraceContext?
  /// The spans of other traces or engines that it follows from: that of the run's first engine, and a parent in another
  /// trace.
  public let links: [TraceContext]
  private let state: Mutex<State>

  private struct State {
    var random: RunRandom
    /// The spans of attempts that are running, by the instance number of the step.
    var running: [Int: SpanID] = [:]
    /// The spans of attempts whose start has not been read yet, in order.
    var unread: [StepAddress: [SpanID]] = [:]

    mutating func next() -> SpanID {
      while true {
        if let span = SpanID(random.next()) { return span }
      }
    }
  }

  /// - Parameters:
  ///   - inherited: The span that the program was started by; `nil` if there is none.
  ///   - earlier: The span of the run under its first traced engine. The trace continues that one.
  ///   - seed: Three random numbers.
  package init(
    inherited: TraceContext?, earlier: TraceContext?, seed: (UInt64, UInt64, UInt64)
  ) {
    var state = State(random: RunRandom(seed: seed.2))
    let trace =
      earlier?.trace ?? inherited?.trace ?? TraceID(high: seed.0, low: seed.1 | 1)!
    let isParent = inherited?.trace == trace
    context = TraceContext(
      trace: trace, span: state.next(), isSampled: inherited?.isSampled ?? true,
      state: isParent ? inherited?.state : nil)
    parent = isParent ? inherited : nil
    links = [earlier, isParent ? nil : inherited].compactMap(\.self)
    self.state = Mutex(state)
  }

  /// A trace with random identities.
  ///
  /// - Parameters:
  ///   - inherited: The span that the program was started by; `nil` if there is none.
  ///   - earlier: The span of the run under its first traced engine.
  public convenience init(inheriting inherited: TraceContext?, continuing earlier: TraceContext?) {
    guard let bytes = try? Entropy.bytes(24) else {
      preconditionFailure("the system has no random bytes")
    }
    let numbers = stride(from: 0, to: 24, by: 8).map { start in
      bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    self.init(inherited: inherited, earlier: earlier, seed: (numbers[0], numbers[1], numbers[2]))
  }

  /// Returns the identity of a new span.
  public func makeSpan() -> SpanID { state.withLock { $0.next() } }

  /// Returns the span of the attempt whose `stepStarted` is being read. Called once for each such event, in order.
  public func takeSpan(ofAttemptOf step: StepAddress) -> SpanID {
    state.withLock { state in
      guard let first = state.unread[step]?.first else { return state.next() }
      if state.unread[step]?.count == 1 {
        state.unread[step] = nil
      } else {
        state.unread[step]?.removeFirst()
      }
      return first
    }
  }

  /// Makes the span of an attempt that is about to be reported as started.
  func begin(_ step: StepAddress, instance: Int) {
    state.withLock { state in
      let span = state.next()
      state.running[instance] = span
      state.unread[step, default: []].append(span)
    }
  }

  /// The context of a running attempt, by the instance number of its step.
  func attempt(ofInstance instance: Int) -> TraceContext {
    state.withLock { $0.running[instance] }.map(context.with) ?? context
  }
}

/// Names under which a context is passed on: OpenTelemetry's "Environment Variables as Context Propagation Carriers".
package enum TraceVariable {
  package static let parent = "TRACEPARENT"
  package static let state = "TRACESTATE"
}

extension TraceContext {
  /// The variables of a program below this span. A state of another trace is not inherited.
  var variables: [(name: String, value: String?)] {
    [(TraceVariable.parent, parent), (TraceVariable.state, state)]
  }

  /// The header of a request below this span. The state is only for the programs of the trace, not for servers.
  var header: HTTPHeader { HTTPHeader("traceparent", parent) }
}
