import Synchronization
import Testing
import Weft
import WeftTestKit

@testable import WeftTelemetry

@Suite struct OpenTelemetryTests {
  private final class Deliveries: Sendable {
    let all = Mutex<[TraceDelivery]>([])
  }

  private struct Sent {
    let spans: Int
    let delivery: TraceDelivery?
    let requests: [StubTransport.Request]
    let report: RunReport
    let output: String
  }

  /// Runs a workflow whose trace goes to a collector that answers this way.
  private func send(
    _ workflow: Workflow, change: (inout TelemetrySettings) -> Void = { _ in },
    answering answer: @escaping @Sendable (StubTransport.Request) -> StubTransport.Response
  ) async throws -> Sent {
    let transport = StubTransport(answer)
    let deliveries = Deliveries()
    var settings = try TelemetrySettings(collector: "http://collector.example:4318")
    settings.headers.add(HTTPHeader("x-key", "hidden", isSecret: true))
    change(&settings)
    let telemetry = OpenTelemetry(settings, transport: transport) { delivery in
      deliveries.all.withLock { $0.append(delivery) }
    }
    let run = try Engine(tracer: telemetry).start(workflow)
    let report = await run.report
    await telemetry.flush()
    let delivery = deliveries.all.withLock { $0 }
    #expect(delivery.count <= 1)
    return Sent(
      spans: (delivery.first?.sent ?? 0) + (delivery.first?.lost ?? 0), delivery: delivery.first,
      requests: transport.requests, report: report,
      output: String(decoding: run.output(of: StepAddress("a")), as: UTF8.self))
  }

  private let workflow = Workflow(steps: [
    Step("a", run: "echo \"$TRACEPARENT $TRACESTATE\""), Step("b", run: ["true"]),
  ])

  @Test func aRunOfAnEmbedderIsSent() async throws {
    let sent = try await send(workflow) { _ in .status(200) }
    // The run, and two steps with an attempt each; waits are short.
    #expect(sent.delivery?.lost == 0 && (sent.delivery?.sent ?? 0) >= 5)
    #expect(sent.delivery?.message == nil)
    let request = try #require(sent.requests.first)
    #expect(request.url == "http://collector.example:4318/v1/traces" && request.method == "POST")
    #expect(request.headers["content-type"] == "application/x-protobuf")
    #expect(request.headers["x-key"] == "hidden")
    #expect(request.headers["user-agent"]?.hasPrefix("OTel-OTLP-Exporter-weft/") == true)
    #expect(TraceContext(parent: String(sent.output.prefix(55))) != nil)
  }

  @Test func aCollectorThatRefusesChangesNothing() async throws {
    let sent = try await send(workflow) { _ in .status(400, body: "go away") }
    #expect(sent.report.succeeded && sent.delivery?.sent == 0)
    #expect(
      sent.delivery?.message?.hasSuffix(
        "did not reach the collector at http://collector.example:4318: it answered 400: go away")
        == true)
    #expect(sent.delivery?.message?.contains("hidden") == false)
  }

  @Test func aParentThatIsNotSampledIsPassedOnAlone() async throws {
    let parent = TraceContext(
      trace: TraceID(high: 1, low: 2)!, span: SpanID(3)!, isSampled: false, state: "a=1")
    let sent = try await send(
      workflow, change: { $0.parent = parent }, answering: { _ in .status(200) })
    #expect(sent.requests.isEmpty && sent.delivery == nil)
    #expect(sent.output.hasPrefix("00-\(parent.trace)-") && sent.output.hasSuffix("-00 a=1\n"))
  }

  @Test func withoutATracerThereIsNoTrace() async throws {
    let run = try Engine().start(
      Workflow(steps: [Step("a", run: "env | grep -c ^TRACEPARENT= || true")]))
    #expect(await run.report.succeeded)
    #expect(String(decoding: run.output(of: StepAddress("a")), as: UTF8.self) == "0\n")
  }
}
