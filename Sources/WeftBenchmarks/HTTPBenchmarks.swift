import CWeftBenchmarks
import Synchronization
import WeftCurl
import WeftFutures
import WeftHTTP
import WeftPlatform

/// Requests to an nginx on this machine: the client beside a bare libcurl loop, and whole runs of `weft` beside
/// whole runs of `curl`.
enum HTTPBenchmarks {
  private static let requests = 10_000
  private static let atOnce = 64

  static var all: [Benchmark] {
    [
      // First, while this process has little resident memory.
      ("http/download", download), ("http/client", client), ("http/steps", steps),
      ("http/growth", growth),
    ].map { name, measure in
      Benchmark(name) { report in
        guard let shop = Scratch("http") else { return report.skip(Scratch.reason) }
        defer { shop.remove() }
        guard let server = Nginx(in: shop) else {
          return report.skip("there is no nginx or no curl that works")
        }
        defer { server.close() }
        measure(server, shop, report)
      }
    }
  }

  /// Requests by the client, by the bare loop, and by curl, in turns.
  private static func client(_ server: Nginx, in shop: Scratch, _ report: BenchmarkReport) {
    let crowd = RequestCrowd(url: server.small)
    var (weft, loop): (Figures, Figures) = ([], [])
    var curls: [Double] = []
    for _ in 0..<report.runs(7) {
      weft.append(.of(requests) { crowd.send(requests, atOnce: atOnce) })
      loop.append(
        .of(requests) {
          let answered = weft_bench_requests(server.small, Int32(requests), Int32(atOnce))
          precondition(answered == requests, "the C loop had \(answered) of \(requests) answers")
        })
      curls.append((shop.seconds(curl(server)) ?? .nan) * 1e6 / Double(requests))
    }
    func add(
      _ name: String, _ value: (Figure) -> Double, _ baselineName: String, _ baseline: [Double]
    ) {
      report.add(
        BenchmarkRow(
          name: "\(requests) small requests, \(atOnce) at once, \(name)",
          measured: weft.map(value).median, unit: "µs/request", baselineName: baselineName,
          baseline: baseline.median))
    }
    add("elapsed", \.elapsed, "bare C loop", loop.map(\.elapsed))
    add("own processor time", \.processor, "bare C loop", loop.map(\.processor))
    add("elapsed", \.elapsed, "curl --parallel", curls)
  }

  private static func curl(_ server: Nginx) -> [String] {
    let asked = "'\(server.small)?[1-\(requests)]'"
    let ask = "exec curl -sS --parallel --parallel-max \(atOnce) \(asked) >/dev/null"
    return ["sh", "-c", ask]
  }

  /// As many steps in one run, beside one run of curl.
  private static func steps(_ server: Nginx, in shop: Scratch, _ report: BenchmarkReport) {
    let numbers = (1...requests).map(String.init).joined(separator: ",")
    shop.write(
      """
      {"steps":[{"id":"ask","forEach":{"in":[\(numbers)],"maxParallel":\(atOnce)},
      "http":{"url":"\(server.small)?${{ item }}"}}]}
      """, to: "requests.json")
    let run = "exec \"$1\" run -j\(atOnce) requests.json >/dev/null"
    let weft = ["sh", "-c", run, "sh", shop.weft]
    var (ours, theirs): ([Double], [Double]) = ([], [])
    for _ in 0..<report.runs(7) {
      if let time = shop.seconds(weft) { ours.append(time) }
      if let time = shop.seconds(curl(server)) { theirs.append(time) }
    }
    guard !ours.isEmpty, !theirs.isEmpty else { return }
    report.add(
      BenchmarkRow(
        name: "`weft run` of \(requests) http steps, \(atOnce) at once", measured: ours.median,
        unit: "s", baselineName: "curl --parallel", baseline: theirs.median))
  }

  /// A big file saved to disk: elapsed time and peak resident memory.
  private static func download(
    from server: Nginx, in shop: Scratch, _ report: BenchmarkReport
  ) {
    shop.write(
      #"{"steps":[{"id":"get","http":{"url":"\#(server.big)","saveTo":"saved"}}]}"#,
      to: "download.json")
    let weft = ["sh", "-c", "rm -f saved; exec \"$1\" run download.json", "sh", shop.weft]
    let curl = ["sh", "-c", "rm -f saved; exec curl -sS -o saved \(server.big)"]
    var (ours, theirs): ([ProgramEnd], [ProgramEnd]) = ([], [])
    for _ in 0..<report.runs(3) {
      if let end = shop.end(of: weft) { ours.append(end) }
      if let end = shop.end(of: curl) { theirs.append(end) }
    }
    guard !ours.isEmpty, !theirs.isEmpty else { return }
    report.add(
      "\(Nginx.bigBytes >> 20) MiB saved", ours, ("s", .seconds(1)), beside: "curl -o", theirs)
  }

  /// Resident memory and open descriptors after many requests, beside those after few.
  private static func growth(_ server: Nginx, in shop: Scratch, _ report: BenchmarkReport) {
    let crowd = RequestCrowd(url: server.small)
    crowd.send(requests / 10, atOnce: atOnce)
    let (few, fewOpen) = (residentBytes(), openDescriptors())
    crowd.send(requests, atOnce: atOnce)
    for (name, unit, measured, baseline) in [
      ("resident", "MB", residentBytes() / 1e6, few / 1e6),
      ("descriptors", "", openDescriptors(), fewOpen),
    ] {
      report.add(
        BenchmarkRow(
          name: "\(name) after \(requests) requests more", measured: measured, unit: unit,
          baselineName: "after \(requests / 10)", baseline: baseline))
    }
  }
}

/// Requests on one client, with a constant number in flight.
private struct RequestCrowd {
  private let client = HTTPClient(transport: CurlTransport())
  private let request: HTTPRequest

  init(url: String) {
    guard let url = try? HTTPURL(url) else { preconditionFailure("\(url) is no URL") }
    request = HTTPRequest(url)
  }

  /// Sends `count` requests, and returns when all have responses.
  func send(_ count: Int, atOnce: Int) {
    let batch = Batch(client: client, request: request, count: count)
    for _ in 0..<min(atOnce, count) { batch.sendNext() }
    batch.answered.wait()
  }

  private final class Batch: Sendable {
    let answered: Latch
    private let client: HTTPClient
    private let request: HTTPRequest
    private let left: Mutex<Int>

    init(client: HTTPClient, request: HTTPRequest, count: Int) {
      self.client = client
      self.request = request
      left = Mutex(count)
      answered = Latch(count)
    }

    func sendNext() {
      let isOver = left.withLock { left in
        left -= 1
        return left < 0
      }
      if isOver { return }
      client.send(request).whenSettled { [self] result in
        guard case .success(let response) = result, response.head.status == 200 else {
          preconditionFailure("a request had no answer: \(result)")
        }
        sendNext()
        answered.arrive()
      }
    }
  }
}
