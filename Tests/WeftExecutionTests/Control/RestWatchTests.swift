import Testing

@testable import WeftExecution

@Suite struct RestWatchTests {
  @Test func oneLookIsNotEnough() {
    var watch = RestWatch()
    #expect(watch.look(isStill: true, happened: 7) == .again(after: RestWatch.shortest))
    #expect(watch.look(isStill: true, happened: 7) == .atRest)
  }

  @Test func whatHasHappenedMeanwhileCountsAsUnrest() {
    var watch = RestWatch()
    _ = watch.look(isStill: true, happened: 7)
    #expect(watch.look(isStill: true, happened: 8) == .again(after: RestWatch.shortest))
    #expect(watch.look(isStill: false, happened: 8) != .atRest)
    #expect(watch.look(isStill: true, happened: 8) == .again(after: RestWatch.shortest))
    #expect(watch.look(isStill: true, happened: 8) == .atRest)
  }

  @Test func whatRunsForLongIsLookedAtEverLessOften() {
    var watch = RestWatch()
    var waits: [Duration] = []
    for _ in 0..<8 {
      if case .again(let wait) = watch.look(isStill: false, happened: 1) { waits.append(wait) }
    }
    #expect(waits.count == 8)
    #expect(zip(waits, waits.dropFirst()).allSatisfy(<=))
    #expect(waits.last == RestWatch.longest)
  }
}
