import Testing
import WeftFutures

/// Mistakes that stop the program where they are made.
@Suite struct MisuseTests {
  typealias Numbers = Publisher<Int, Never>

  @Test func countsMustNotBeNegative() async {
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.prefix(-1) }
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.dropFirst(-1) }
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.collect(0) }
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.retry(-1) }
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.share(replay: -1) }
    await #expect(processExitsWith: .failure) {
      _ = Numbers.empty.flatMap(maxPublishers: 0) { .just($0) }
    }
    await #expect(processExitsWith: .failure) { _ = ReplaySubject<Int, Never>(-1) }
  }

  @Test func intervalsMustNotBeNegative() async {
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.debounce(for: .seconds(-1)) }
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.throttle(for: .seconds(-1)) }
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.delay(for: .seconds(-1)) }
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.sample(every: .zero) }
    await #expect(processExitsWith: .failure) { _ = Publisher.timer(every: .zero) }
    await #expect(processExitsWith: .failure) {
      _ = Publisher<Int, Oops>.empty.timeout(.seconds(-1)) { Oops() }
    }
    await #expect(processExitsWith: .failure) {
      _ = Future<Int, Oops>(value: 1).timeout(.seconds(-1)) { Oops() }
    }
    await #expect(processExitsWith: .failure) {
      _ = Future<Int, Oops>(value: 1).delay(.seconds(-1))
    }
  }

  @Test func buffersNeedRoomAndASenderThatCanWait() async {
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.buffer(.bounded(0)) }
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.values(.bufferingLatest(0)) }
    await #expect(processExitsWith: .failure) {
      _ = PassthroughSubject<Int, Never>().publisher(.bounded(1))
    }
    await #expect(processExitsWith: .failure) {
      _ = Numbers.callback(.bounded(1)) { _ in AnyCancellable {} }
    }
    await #expect(processExitsWith: .failure) { _ = Numbers.empty.share(.bounded(1)) }
  }
}
