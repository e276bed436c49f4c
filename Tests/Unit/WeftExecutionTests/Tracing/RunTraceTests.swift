import Testing
import WeftEvents
import WeftPlanning

@testable import WeftExecution

@Suite struct RunTraceTests {
  private let inherited = TraceContext(
    trace: TraceID(high: 1, low: 2)!, span: SpanID(3)!, state: "vendor=1")
  private let earlier = TraceContext(trace: TraceID(high: 7, low: 8)!, span: SpanID(9)!)

  private func trace(_ inherited: TraceContext?, _ earlier: TraceContext? = nil) -> RunTrace {
    RunTrace(inherited: inherited, earlier: earlier, seed: (5, 6, 42))
  }

  @Test func aRunBeginsATrace() {
    let trace = trace(nil)
    #expect(trace.context.trace == TraceID(high: 5, low: 7))
    #expect(trace.parent == nil && trace.links.isEmpty && trace.context.isSampled)
  }

  @Test func anInheritedSpanIsTheParent() {
    let trace = trace(inherited)
    #expect(trace.context.trace == inherited.trace && trace.context.span != inherited.span)
    #expect(trace.parent == inherited && trace.links.isEmpty)
    #expect(trace.context.state == "vendor=1")
  }

  @Test func aResumedRunContinuesItsTrace() {
    let trace = trace(nil, earlier)
    #expect(trace.context.trace == earlier.trace && trace.context.span != earlier.span)
    #expect(trace.parent == nil && trace.links == [earlier])
  }

  @Test func aParentInAnotherTraceIsOnlyLinked() {
    let trace = trace(inherited, earlier)
    #expect(trace.context.trace == earlier.trace && trace.context.state == nil)
    #expect(trace.parent == nil && trace.links == [earlier, inherited])
  }

  @Test func aParentInTheRunsOwnTraceStaysTheParent() {
    var inherited = inherited
    inherited.trace = earlier.trace
    let trace = trace(inherited, earlier)
    #expect(trace.parent == inherited && trace.links == [earlier])
  }

  @Test func whatIsNotSampledStaysSo() {
    var inherited = inherited
    inherited.isSampled = false
    #expect(trace(inherited).context.parent.hasSuffix("-00"))
  }

  @Test func attemptsAreReadInTheOrderOfTheirStarts() {
    let trace = trace(nil)
    let step: StepAddress = StepAddress("a")
    trace.begin(step, instance: 1)
    let first = trace.attempt(ofInstance: 1)
    trace.begin(step, instance: 1)
    let second = trace.attempt(ofInstance: 1)
    #expect(first.span != second.span && first.trace == trace.context.trace)
    #expect(trace.takeSpan(ofAttemptOf: step) == first.span)
    #expect(trace.takeSpan(ofAttemptOf: step) == second.span)
    // One that nothing waits for, such as a step that only waits for a time.
    let third = trace.takeSpan(ofAttemptOf: step)
    #expect(third != first.span && third != second.span)
  }

  @Test func aProgramGetsTheTraceAndLosesAForeignState() {
    let names = trace(nil).context.variables.map(\.name)
    #expect(names == ["TRACEPARENT", "TRACESTATE"])
    #expect(trace(nil).context.variables[1].value == nil)
    #expect(trace(inherited).context.variables[1].value == "vendor=1")
  }

  @Test func spansDiffer() {
    let trace = trace(nil)
    let spans = Set((0..<10_000).map { _ in trace.makeSpan() })
    #expect(spans.count == 10_000)
  }

  @Test func tracesDiffer() {
    let traces = (0..<100).map { _ in RunTrace(inheriting: nil, continuing: nil).context.trace }
    #expect(Set(traces).count == 100)
  }
}
