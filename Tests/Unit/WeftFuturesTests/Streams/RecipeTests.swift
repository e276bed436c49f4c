import Synchronization
import TestSupport
import Testing
import WeftFutures

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// The code between the marks is also in the article Streams.

// recipe: transport
struct Response: Sendable, Equatable {
  var status: Int
  var body: String
}

enum LoadError: Error, Equatable {
  case unreachable
  case status(Int)
  case notANumber(String)
}

/// Sends a request; a test injects its own.
typealias Transport = @Sendable (_ path: String) -> Future<Response, LoadError>
// recipe end

// recipe: search
struct Search: Sendable {
  let typed = PassthroughSubject<String, Never>()
  let load: Transport
  var clock: any Clock<Duration> = .continuous

  /// The results for the text that the user has stopped changing.
  var results: Publisher<Result<Response, LoadError>, Never> {
    typed.publisher()
      .debounce(for: .milliseconds(300), clock: clock)
      .removeDuplicates()
      .flatMapLatest { text in load("/search/\(text)").publisher.asResults() }
  }
}
// recipe end

// recipe: form
struct Form: Sendable {
  let name = CurrentValueSubject<String, Never>("")
  let password = CurrentValueSubject<String, Never>("")
  let repeated = CurrentValueSubject<String, Never>("")

  /// Whether the form can be sent.
  var isValid: Publisher<Bool, Never> {
    Publisher.combineLatest(name.publisher(), password.publisher(), repeated.publisher())
      .map { name, password, repeated in
        !name.isEmpty && password.count >= 8 && password == repeated
      }
      .removeDuplicates()
  }
}
// recipe end

// recipe: decode
/// A request, a strict status, a decoded value: each can fail, with one type of error.
@Sendable func price(of item: String, _ load: Transport) -> Future<Int, LoadError> {
  load("/price/\(item)")
    .tryMap { response throws(LoadError) in
      guard response.status == 200 else { throw .status(response.status) }
      return response.body
    }
    .tryMap { body throws(LoadError) in
      guard let price = Int(body) else { throw .notANumber(body) }
      return price
    }
}
// recipe end

// recipe: normalized
enum UserMessage: Error, Equatable {
  case tryLater
  case broken(String)

  init(_ error: LoadError) {
    switch error {
    case .unreachable: self = .tryLater
    case .status(let status) where status >= 500: self = .tryLater
    case .status(let status): self = .broken("status \(status)")
    case .notANumber(let text): self = .broken("not a price: \(text)")
    }
  }
}

func priceOrMessage(of item: String, _ load: Transport) -> Future<Int, UserMessage> {
  price(of: item, load).mapError(UserMessage.init)
}
// recipe end

// recipe: callbacks
/// A library with completion handlers, and with callbacks that fire many times.
final class Device: Sendable {
  private let watchers = Mutex<[Int: @Sendable (Int) -> Void]>([:])

  func read(completion: @escaping @Sendable (Int?, (any Error)?) -> Void) { completion(20, nil) }
  func addWatcher(_ number: Int, _ report: @escaping @Sendable (Int) -> Void) {
    watchers.withLock { $0[number] = report }
  }
  func removeWatcher(_ number: Int) { watchers.withLock { $0[number] = nil } }
  func report(_ value: Int) { for watcher in watchers.withLock({ $0.values }) { watcher(value) } }
}

extension Device {
  var reading: Future<Int, any Error> { Future { self.read(completion: $0) } }

  func readings(watcher number: Int) -> Publisher<Int, Never> {
    .callback(.bufferingLatest(1)) { emitter in
      self.addWatcher(number) { emitter.send($0) }
      return AnyCancellable { self.removeWatcher(number) }
    }
  }
}
// recipe end

// recipe: sequence
/// 1, then 2a, 2b and 2c together, then 3 and 4. It can be cancelled and started again.
final class Checkout: Sendable {
  private let load: Transport
  private let running = Mutex<AnyCancellable?>(nil)
  /// Whether an activity indicator is to be shown.
  let isActive = CurrentValueSubject<Bool, Never>(false)
  let results = PassthroughSubject<Result<String, LoadError>, Never>()

  init(_ load: @escaping Transport) { self.load = load }

  private func steps() -> Future<String, LoadError> {
    let load = load
    return load("/1")
      .flatMap { _ in Future.zip(["/2a", "/2b", "/2c"].map { load($0) }) }
      .flatMap { _ in load("/3") }
      .flatMap { _ in load("/4") }
      .map(\.body)
  }

  func start() {
    isActive.send(true)
    let subscription = steps().sink { [weak self] outcome in
      self?.isActive.send(false)
      self?.results.send(outcome)
    }
    // Replacing the previous subscription cancels it.
    let previous = running.withLock { running in
      defer { running = subscription }
      return running
    }
    previous?.cancel()
  }

  func cancel() {
    running.withLock { $0.take() }?.cancel()
    isActive.send(false)
  }
}
// recipe end

// recipe: cached
/// A page that may be older than wanted, and the reason for that.
struct Page: Sendable, Equatable {
  var body: String
  var staleBecause: LoadError?
}

/// Publishes what is cached at once, and then the current page, or the cached one with the error.
func page(_ path: String, cached: String?, _ load: @escaping Transport) -> Publisher<
  Page, LoadError
> {
  let current = Publisher<Page, LoadError>.deferred {
    load(path).publisher.map { Page(body: $0.body) }
  }
  guard let cached else { return current }
  return
    current
    .catch { .just(Page(body: cached, staleBecause: $0)) }
    .prepend(Page(body: cached))
}
// recipe end

// recipe: bag
final class Screen: Sendable {
  private let shown = Mutex<[String]>([])
  private let subscriptions = Mutex<Set<AnyCancellable>>([])

  var lines: [String] { shown.withLock { $0 } }

  /// Shows what arrives as long as the screen exists: releasing it releases the set, which cancels all.
  func show(_ texts: Publisher<String, Never>) {
    let subscription = texts.sink { [weak self] text in
      self?.shown.withLock { $0.append(text) }
    }
    subscriptions.withLock { _ = $0.insert(subscription) }
  }
}
// recipe end

/// The patterns of the article Streams.
@Suite struct RecipeTests {
  /// A transport whose requests the test answers itself.
  private final class Server: Sendable {
    private let requests = Mutex<[(path: String, promise: Promise<Response, LoadError>)]>([])
    let cancelled = Log<String>()

    var transport: Transport {
      { [self] path in
        let promise = Promise<Response, LoadError>(ifDropped: .failure(.unreachable))
        promise.onCancel { [cancelled] in
          cancelled.write(path)
          $0.fail(.unreachable)
        }
        requests.withLock { $0.append((path, promise)) }
        return promise.future
      }
    }

    var paths: [String] { requests.withLock { $0.map(\.path) } }

    /// Waits for a request that a task makes.
    func waitFor(_ path: String) async {
      await until { paths.contains(path) }
    }

    /// Waits until a task that was cancelled has cancelled its request.
    func waitForCancellation() async {
      await until { !cancelled.entries.isEmpty }
    }

    func answer(_ path: String, _ status: Int = 200, _ body: String = "") {
      let promise = requests.withLock { requests in
        requests.firstIndex { $0.path == path }.map { requests.remove(at: $0).promise }
      }
      promise?.succeed(Response(status: status, body: body))
    }
  }

  private let server = Server()

  private func answering(_ status: Int, _ body: String) -> Transport {
    { _ in Future(value: Response(status: status, body: body)) }
  }

  @Test func searchAsYouType() async {
    let clock = TestClock()
    let search = Search(load: server.transport, clock: clock)
    let recording = search.results.record()
    for text in ["w", "we", "weft"] { search.typed.send(text) }
    await clock.waitForSleep(1)
    #expect(server.paths.isEmpty)
    clock.advance(by: .milliseconds(300))
    await server.waitFor("/search/weft")
    search.typed.send("weft!")
    await clock.waitForSleep(2)
    clock.advance(by: .milliseconds(300))
    await server.waitFor("/search/weft!")
    await server.waitForCancellation()
    #expect(server.cancelled.entries == ["/search/weft"])
    server.answer("/search/weft!", 200, "1 result")
    #expect(
      await recording.values(1) == [.success(Response(status: 200, body: "1 result"))])
  }

  @Test func formValidation() {
    let form = Form()
    let recording = form.isValid.record()
    form.name.send("Ada")
    form.password.send("12345678")
    form.repeated.send("12345678")
    form.repeated.send("1234567")
    #expect(recording.values == [false, true, false])
  }

  @Test func aRequestIsDecodedOrFailsWithOneType() {
    #expect(price(of: "tea", answering(200, "3")).outcome == .success(3))
    #expect(price(of: "tea", answering(404, "")).outcome == .failure(.status(404)))
    #expect(price(of: "tea", answering(200, "x")).outcome == .failure(.notANumber("x")))
    #expect(priceOrMessage(of: "tea", answering(503, "")).outcome == .failure(.tryLater))
    #expect(
      priceOrMessage(of: "tea", answering(404, "")).outcome == .failure(.broken("status 404")))
  }

  @Test func callbacksBecomeFuturesAndStreams() throws {
    let device = Device()
    #expect(try device.reading.outcome?.get() == 20)
    let recording = device.readings(watcher: 1).record()
    device.report(21)
    recording.cancel()
    device.report(22)
    #expect(recording.values == [21])
  }

  @Test func deferredWorkRunsForEachSubscription() {
    let requests = Tally()
    let load: Transport = { _ in
      requests.add()
      return Future(value: Response(status: 200, body: "\(requests.total)"))
    }
    let body = Publisher { load("/time") }.map(\.body)
    #expect(requests.total == 0)
    #expect(body.record().values == ["1"])
    #expect(body.record().values == ["2"])
  }

  @Test func stepsInOrderWithCancelAndRestart() {
    let checkout = Checkout(server.transport)
    let results = checkout.results.publisher().record()
    let activity = checkout.isActive.publisher(.unbounded).removeDuplicates().record()
    checkout.start()
    server.answer("/1")
    #expect(server.paths == ["/2a", "/2b", "/2c"])
    checkout.cancel()
    #expect(server.cancelled.entries.sorted() == ["/2a", "/2b", "/2c"])
    for path in ["/2a", "/2b", "/2c"] { server.answer(path) }
    checkout.start()
    for path in ["/1", "/2c", "/2a", "/2b", "/3"] { server.answer(path) }
    #expect(server.paths == ["/4"])
    server.answer("/4", 200, "done")
    #expect(results.values == [.success("done")])
    #expect(activity.values == [false, true, false, true, false])
  }

  @Test func aCachedPageComesWithItsError() {
    let failing: Transport = { _ in Future(failure: .unreachable) }
    #expect(
      page("/", cached: "old", failing).record().values
        == [Page(body: "old"), Page(body: "old", staleBecause: .unreachable)])
    #expect(
      page("/", cached: "old", answering(200, "new")).record().values
        == [Page(body: "old"), Page(body: "new")])
    #expect(page("/", cached: nil, failing).record().completion == .failure(.unreachable))
  }

  @Test func aScreenReleasesItsSubscriptions() {
    let texts = PassthroughSubject<String, Never>()
    let cancelled = Tally()
    var screen: Screen? = Screen()
    for suffix in ["!", "?"] {
      screen?.show(
        texts.publisher().handleEvents(receiveCancel: { cancelled.add() }).map { $0 + suffix })
    }
    texts.send("hello")
    #expect(screen?.lines == ["hello!", "hello?"])
    screen = nil
    #expect(cancelled.total == 2)
  }

  /// The article and this file say the same, apart from the two short examples of the article.
  @Test func theArticleShowsTestedCode() throws {
    var folder = #filePath.split(separator: "/").dropLast().map(String.init)
    let code = try #require(text("/" + folder.joined(separator: "/") + "/RecipeTests.swift"))
    var article: String?
    while article == nil, folder.popLast() != nil {
      article = text("/" + folder.joined(separator: "/") + "/\(Self.article)")
    }
    let blocks = try #require(article).components(between: "```swift\n", and: "\n```")
    let recipes = code.components(between: "// recipe: ", and: "\n// recipe end").map { recipe in
      String(recipe.drop { $0 != "\n" }.dropFirst())
    }
    #expect(recipes.count == 9)
    for recipe in recipes { #expect(blocks.contains(recipe), "not in the article: \(recipe)") }
    #expect(blocks.count == recipes.count + 2)
  }

  private static let article = "Sources/Weft/Documentation.docc/Streams.md"

  private func text(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var byte = getc(file)
    while byte != EOF {
      bytes.append(UInt8(truncatingIfNeeded: byte))
      byte = getc(file)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension String {
  /// The parts between each `start` and the `end` after it.
  fileprivate func components(between start: String, and end: String) -> [String] {
    split(separator: start, omittingEmptySubsequences: false).dropFirst().compactMap { part in
      part.firstRange(of: end).map { String(part[..<$0.lowerBound]) }
    }
  }
}
