import Testing

@testable import WeftEvents
@testable import WeftExecution

@Suite struct IdleDetectorTests {
  @Test func singleCheckIsNotEnough() {
    var watch = IdleDetector()
    #expect(watch.check(isIdle: true, happened: 7) == .again(after: IdleDetector.shortest))
    #expect(watch.check(isIdle: true, happened: 7) == .atRest)
  }

  @Test func eventBetweenChecksCountsAsActivity() {
    var watch = IdleDetector()
    _ = watch.check(isIdle: true, happened: 7)
    #expect(watch.check(isIdle: true, happened: 8) == .again(after: IdleDetector.shortest))
    #expect(watch.check(isIdle: false, happened: 8) != .atRest)
    #expect(watch.check(isIdle: true, happened: 8) == .again(after: IdleDetector.shortest))
    #expect(watch.check(isIdle: true, happened: 8) == .atRest)
  }

  @Test func longRunsAreCheckedLessOften() {
    var watch = IdleDetector()
    var waits: [Duration] = []
    for _ in 0..<8 {
      if case .again(let wait) = watch.check(isIdle: false, happened: 1) { waits.append(wait) }
    }
    #expect(waits.count == 8)
    #expect(zip(waits, waits.dropFirst()).allSatisfy(<=))
    #expect(waits.last == IdleDetector.longest)
  }
}
