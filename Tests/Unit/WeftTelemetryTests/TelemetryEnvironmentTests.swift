import Testing
import WeftEvents
import WeftHTTP

@testable import WeftTelemetry

@Suite struct TelemetryEnvironmentTests {
  private static let base = "OTEL_EXPORTER_OTLP_ENDPOINT"
  private static let traces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"

  private func environment(
    _ variables: [String: String], collector: String? = nil
  ) throws -> TelemetryEnvironment {
    TelemetryEnvironment(collector: try collector.map { try TelemetrySettings(collector: $0) }) {
      variables[$0]
    }
  }

  @Test(arguments: [
    ("http://localhost:4318", "http://localhost:4318/v1/traces"),
    ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
    ("https://host/otlp//", "https://host/otlp/v1/traces"),
    ("https://host/a?key=1#x", "https://host/a/v1/traces?key=1"),
    ("HTTP://Host:80", "http://host/v1/traces"),
    ("http://[::1]:4318", "http://[::1]:4318/v1/traces"),
  ])
  func aBaseURLGetsThePathOfTraces(base: String, url: String) throws {
    #expect(try TelemetrySettings(collector: base).endpoint.description == url)
    #expect(try environment([Self.base: base]).settings?.endpoint.description == url)
    #expect(try environment([:], collector: base).settings?.endpoint.description == url)
  }

  @Test(arguments: [
    "", "localhost:4318", "/var/run/otel.sock", "unix:///var/run/otel.sock", "grpc://host:4317",
    "http://", "http://host:99999", "http://ho st", "http://host\n",
  ])
  func anythingElseIsNoCollector(text: String) throws {
    #expect(throws: HTTPURLError.self) { try TelemetrySettings(collector: text) }
    let environment = try environment([Self.base: text])
    #expect(environment.settings == nil)
    #expect(environment.problems.count == (text.isEmpty ? 0 : 1))
  }

  @Test func theURLOfTracesIsUsedAsItIs() throws {
    let both = [Self.base: "http://a", Self.traces: "http://b/here"]
    #expect(try environment(both).settings?.endpoint.description == "http://b/here")
    #expect(
      try environment(both, collector: "http://c").settings?.endpoint.description
        == "http://c/v1/traces")
  }

  @Test func withoutACollectorNothingIsSent() throws {
    let environment = try environment([
      "OTEL_EXPORTER_OTLP_HEADERS": "broken", "TRACEPARENT": "broken",
    ])
    #expect(environment.settings == nil && environment.problems.isEmpty)
  }

  @Test(
    arguments: [
      (["OTEL_SDK_DISABLED": "true"], false, 0), (["OTEL_SDK_DISABLED": "TRUE"], false, 0),
      (["OTEL_SDK_DISABLED": "false"], true, 0), (["OTEL_SDK_DISABLED": "1"], true, 1),
      (["OTEL_TRACES_EXPORTER": "none"], false, 0), (["OTEL_TRACES_EXPORTER": "zipkin"], false, 0),
      (["OTEL_TRACES_EXPORTER": "console, otlp"], true, 0),
      (["OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"], false, 1),
      (
        ["OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"],
        true, 0
      ),
    ] as [([String: String], Bool, Int)])
  func theEnvironmentMayTurnItOff(
    variables: [String: String], isSent: Bool, problems: Int
  ) throws {
    let environment = try environment(variables.merging([Self.base: "http://a"]) { $1 })
    #expect((environment.settings != nil) == isSent && environment.problems.count == problems)
  }

  @Test func anOptionWinsExceptOverTheSwitchForEverything() throws {
    let off = try environment(["OTEL_SDK_DISABLED": "true"], collector: "http://a")
    #expect(off.settings == nil && off.problems == ["OTEL_SDK_DISABLED is true: no trace is sent"])
    let on = try environment(
      ["OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"],
      collector: "http://a")
    #expect(on.settings != nil && on.problems.isEmpty)
  }

  @Test func headersAreDecodedAndSecret() throws {
    let settings = try #require(
      try environment([
        Self.base: "http://a",
        "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20QQ==, x-team = a%2Cb ,x-team=last",
      ]).settings)
    #expect(settings.headers.fields.map(\.name) == ["Authorization", "x-team"])
    #expect(settings.headers.fields.map(\.value) == ["Basic QQ==", "last"])
    #expect(settings.headers.fields.allSatisfy { $0.isSecret })
  }

  @Test(arguments: [
    "novalue", "=value", "a b=c", "x=%0D%0AInjected: 1", "content-type=text/html",
    "Content-Length=5", "connection=close", "k=%00",
  ])
  func aHeaderThatCannotBeSentIsLeftOut(text: String) throws {
    let environment = try environment([
      Self.base: "http://a", "OTEL_EXPORTER_OTLP_HEADERS": "good=1,\(text),fine=2",
    ])
    #expect(environment.settings?.headers.fields.map(\.name) == ["good", "fine"])
    #expect(environment.problems.count == 1)
    #expect(!environment.problems[0].contains(text), "\(environment.problems)")
  }

  @Test func theResourceNamesTheService() throws {
    let run = RunStart(
      run: RunID("20261123-175233-10bb5c"), workflow: "demo", file: nil,
      startedAt: WallTime(nanoseconds: 0), stepCount: 1, groupCount: 0, maxParallel: 1,
      engineProcess: 1, containment: nil, resumption: 0)
    func service(_ variables: [String: String]) throws -> [SpanAttribute] {
      try environment(variables.merging([Self.base: "http://a"]) { $1 })
        .settings?.resource(of: run) ?? []
    }
    let plain = try service([:])
    #expect(plain.contains(SpanAttribute("service.name", "weft")))
    #expect(plain.contains(SpanAttribute("cicd.pipeline.name", "demo")))
    #expect(plain.contains(SpanAttribute("cicd.pipeline.run.id", "20261123-175233-10bb5c")))
    let named = try service([
      "OTEL_RESOURCE_ATTRIBUTES": "service.name=one,team=a%20b%3D,cicd.pipeline.name=mine",
      "OTEL_SERVICE_NAME": "two",
    ])
    #expect(named.filter { $0.key == "service.name" } == [SpanAttribute("service.name", "two")])
    #expect(named.contains(SpanAttribute("team", "a b=")))
    #expect(
      named.filter { $0.key == "cicd.pipeline.name" }
        == [SpanAttribute("cicd.pipeline.name", "mine")])
    #expect(Set(named.map(\.key)).count == named.count)
  }

  @Test(arguments: [
    ("2500", Duration.milliseconds(2500), 0), ("0", .seconds(10), 1), ("-1", .seconds(10), 1),
    ("10s", .seconds(10), 1), ("99999999999999999999", .seconds(10), 1),
  ])
  func theTimeoutIsInMilliseconds(text: String, timeout: Duration, problems: Int) throws {
    let environment = try environment([
      Self.base: "http://a", "OTEL_EXPORTER_OTLP_TIMEOUT": text,
    ])
    #expect(environment.settings?.timeout == timeout && environment.problems.count == problems)
  }

  @Test func filesForTLSAreTaken() throws {
    let tls = try environment([
      Self.base: "https://a", "OTEL_EXPORTER_OTLP_CERTIFICATE": "ca.pem",
      "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": "me.pem",
      "OTEL_EXPORTER_OTLP_CLIENT_KEY": "me.key",
    ]).settings?.tls
    #expect(tls == TLSFiles(authorities: "ca.pem", certificate: "me.pem", key: "me.key"))
  }

  @Test func theParentIsInherited() throws {
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    let good = try environment([
      Self.base: "http://a", "TRACEPARENT": parent, "TRACESTATE": "a=1",
    ])
    #expect(good.settings?.parent?.parent == parent && good.settings?.parent?.state == "a=1")
    #expect(good.problems.isEmpty)
    let bad = try environment([Self.base: "http://a", "TRACEPARENT": "00-1-2-3"])
    #expect(bad.settings != nil && bad.settings?.parent == nil && bad.problems.count == 1)
    let state = try environment([Self.base: "http://a", "TRACEPARENT": parent, "TRACESTATE": "x"])
    #expect(state.settings?.parent?.state == nil && state.problems.count == 1)
  }
}
