public import WeftEvents
public import WeftExecution
public import WeftPlanning

/// Follows the runs of an engine as traces: `OpenTelemetry` of the module WeftTelemetry, or one of your own.
///
/// With a tracer, programs of steps have `TRACEPARENT` in their environment, and requests of steps the header
/// `traceparent`: the span of their attempt. Without one, nothing of this exists.
public protocol RunTracer: Sendable {
  /// Returns the trace of a run that is about to start; `nil` if it is not to be traced.
  ///
  /// - Parameter earlier: For a resumed run, the span of the run under the first engine that traced it.
  func trace(_ run: RunID, continuing earlier: TraceContext?) -> RunTrace?

  /// Follows a run from its first event. Must return at once.
  func follow(_ run: TracedRun)
}

/// A run that has a trace, before its first event.
public struct TracedRun: Sendable {
  /// The run's ID.
  public let id: RunID
  /// The identities of its spans.
  public let trace: RunTrace
  /// The plan, bound to the inputs.
  public let plan: Plan
  /// All events of the run, from the first.
  public let events: EventSubscription
  package let live: RunEngine
}

extension Engine {
  /// Begins the trace of a run, if there is to be one. Its identity is recorded with the run.
  func beginTrace(of prepared: PreparedRun) -> RunTrace? {
    tracer?.trace(prepared.id, continuing: prepared.resumed?.run.run.trace)
  }

  func follow(_ run: RunEngine, _ trace: RunTrace?) {
    guard let tracer, let trace else { return }
    tracer.follow(
      TracedRun(
        id: run.id, trace: trace, plan: run.plan, events: run.subscribe(outputLimitBytes: 0),
        live: run))
  }
}
