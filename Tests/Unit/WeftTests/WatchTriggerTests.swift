import Testing
import Weft

/// When a watched run starts again, on times that the tests choose.
struct WatchTriggerTests {
  private let quiet = WatchTrigger.quiet

  @Test func changesCountAsOneUntilItIsQuiet() {
    var trigger = ended(.restart)
    #expect(trigger.comparisonTime == nil)
    trigger.noticed(at: .seconds(1))
    #expect(trigger.comparisonTime == .seconds(1) + quiet)
    trigger.noticed(at: .seconds(1) + quiet / 2)
    #expect(trigger.comparisonTime == .seconds(1) + quiet / 2 + quiet)
    check(trigger.compared(["a"]), .start)
    #expect(trigger.comparisonTime == nil)
  }

  @Test func aBurstThatGoesOnIsComparedAfterAll() throws {
    var trigger = ended(.restart)
    for step in 0..<1000 { trigger.noticed(at: quiet / 2 * step) }
    #expect(trigger.comparisonTime == WatchTrigger.patience)
    check(trigger.postpone(at: WatchTrigger.patience), false)
  }

  @Test func aCheckoutPostponesTheComparison() {
    var trigger = ended(.restart)
    trigger.noticed(at: .zero)
    check(trigger.postpone(at: quiet), true)
    #expect(trigger.comparisonTime == quiet + quiet)
  }

  @Test func equalContentsStartNothing() {
    var trigger = ended(.restart)
    trigger.noticed(at: .zero)
    check(trigger.compared([]), .nothing)
    #expect(trigger.comparisonTime == nil)
  }

  @Test func aChangeDuringARunCancelsIt() {
    var trigger = WatchTrigger(.restart)
    trigger.began()
    trigger.noticed(at: .zero)
    check(trigger.compared(["a"]), .cancel(because: ["a"]))
    // What changes until the run has ended is compared then.
    trigger.noticed(at: .seconds(1))
    #expect(trigger.comparisonTime == nil)
    let end = trigger.ended(["a"], at: .seconds(2))
    #expect(end.written.isEmpty && end.new.isEmpty)
    #expect(trigger.comparisonTime == .seconds(2) + quiet)
    check(trigger.compared(["a"]), .start)
  }

  @Test func onlyWhatIsReadIsTheCause() {
    var trigger = WatchTrigger(.restart)
    trigger.began()
    trigger.noticed(at: .zero)
    check(trigger.compared(["a", "made"], areRead: ["a"]), .cancel(because: ["a"]))
  }

  @Test func aCancelledRunStartsAgainEvenIfTheChangeWasUndone() {
    var trigger = WatchTrigger(.restart)
    trigger.began()
    trigger.noticed(at: .zero)
    check(trigger.compared(["a"]), .cancel(because: ["a"]))
    _ = trigger.ended([], at: .seconds(2))
    #expect(trigger.comparisonTime != nil)
    check(trigger.compared([]), .start)
  }

  @Test func finishComparesAfterTheEnd() {
    var trigger = WatchTrigger(.finish)
    trigger.began()
    trigger.noticed(at: .zero)
    #expect(trigger.comparisonTime == nil)
    _ = trigger.ended(["a"], at: .seconds(3))
    #expect(trigger.comparisonTime == .seconds(3) + quiet)
    check(trigger.compared(["a"]), .start)
  }

  @Test(arguments: WatchTrigger.OnChange.allCases)
  func aFileThatEachRunChangesStartsNoMoreRuns(onChange: WatchTrigger.OnChange) {
    var trigger = WatchTrigger(onChange)
    for run in 1...WatchTrigger.limit {
      trigger.began()
      let end = trigger.ended(["log"], at: .seconds(run))
      let isLast = run == WatchTrigger.limit
      #expect(end.new == (isLast ? ["log"] : []))
      #expect((trigger.comparisonTime == nil) == isLast)
      if !isLast { #expect(trigger.compared(["log"]) == .start) }
    }
    // Between runs it counts, and so do other files, also while it is being written.
    trigger.noticed(at: .seconds(10))
    check(trigger.compared(["log"]), .start)
    trigger.began()
    if onChange == .restart {
      trigger.noticed(at: .seconds(11))
      check(trigger.compared(["log"]), .nothing)
      trigger.noticed(at: .seconds(12))
      check(trigger.compared(["log", "a"]), .cancel(because: ["a"]))
    }
    check(trigger.ended(["log", "a"], at: .seconds(13)).written, ["log"])
    check(trigger.compared(["a"]), .start)
  }

  @Test func aRunThatLeavesTheFileAloneEndsTheStreak() {
    var trigger = WatchTrigger(.finish)
    for run in 0..<WatchTrigger.limit - 1 {
      trigger.began()
      _ = trigger.ended(["log"], at: .seconds(run))
    }
    trigger.began()
    _ = trigger.ended([], at: .seconds(7))
    trigger.began()
    check(trigger.ended(["log"], at: .seconds(8)).written, [])
  }

  /// Takes a value from a call that changes the trigger, which `#expect` cannot contain.
  private func check<Value: Equatable>(
    _ value: Value, _ expected: Value, at location: SourceLocation = #_sourceLocation
  ) {
    #expect(value == expected, sourceLocation: location)
  }

  /// After a run that has changed nothing.
  private func ended(_ onChange: WatchTrigger.OnChange) -> WatchTrigger {
    var trigger = WatchTrigger(onChange)
    trigger.began()
    _ = trigger.ended([], at: .zero)
    return trigger
  }
}
