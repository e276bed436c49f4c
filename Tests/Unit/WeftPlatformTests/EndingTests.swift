import Testing

@testable import WeftPlatform

/// A program's course on virtual time.
struct Scenario: CustomTestStringConvertible {
  enum Event {
    case output, endOfOutput, exit, failure
    case stop(StopLevel)
  }

  var testDescription: String
  var timeout: Int?
  var stallTimeout: Int?
  var grace = 10_000
  var keepsLeftovers = false
  /// The events by millisecond, in order; those of one moment are noticed together.
  var events: [(at: Int, Event)]
  /// The time until which other processes live in the group, and whether KILL ends them.
  var groupLivesUntil = 0
  var groupIsMortal = true
  /// "MS act", for everything except waiting and looking.
  var expected: [String]
  var cause: StopCause?
  var neededKill = false
  var gaveUp = false
}

@Suite struct EndingTests {
  static let scenarios = [
    Scenario(
      testDescription: "left alone, it ends with its exit and its output",
      events: [(5, .output), (7, .endOfOutput), (9, .exit)], expected: ["9 finish"]),
    Scenario(
      testDescription: "output that ends after the exit is waited for",
      events: [(9, .exit), (50, .output), (60, .endOfOutput)], expected: ["60 finish"]),
    Scenario(
      testDescription: "O01: held, silent output is given up 100 ms after the exit",
      events: [(1, .output), (500, .exit)], groupLivesUntil: 60_000,
      expected: ["600 kill group", "600 finish"]),
    Scenario(
      testDescription: "O02: held output that goes on is read for 2 s",
      events: [(10, .exit)] + (1...60).map { (10 + $0 * 50, .output) }, groupLivesUntil: 60_000,
      expected: ["2010 kill group", "2010 finish"]),
    Scenario(
      testDescription: "O02: silence after the last piece counts from that piece",
      events: [(10, .exit), (90, .output), (180, .output)], expected: ["280 finish"]),
    Scenario(
      testDescription: "O03: others that hold no output are found, and killed after 100 ms",
      events: [(5, .endOfOutput), (9, .exit)], groupLivesUntil: 60_000,
      expected: ["109 kill group", "109 finish"]),
    Scenario(
      testDescription: "X74: what makes a session of its own soon after the exit is not killed",
      events: [(5, .endOfOutput), (9, .exit)], groupLivesUntil: 100,
      expected: ["109 finish"]),
    Scenario(
      testDescription: "X74: a hard stop gives it no time",
      events: [(5, .endOfOutput), (9, .exit), (30, .stop(.now))], groupLivesUntil: 60_000,
      expected: ["30 kill group", "30 finish"]),
    Scenario(
      testDescription: "K01: at its timeout it gets TERM, and no KILL if it obeys",
      timeout: 1000, events: [(1005, .endOfOutput), (1005, .exit)],
      expected: ["1000 terminate", "1005 finish"], cause: .timeout),
    Scenario(
      testDescription: "K02: what ignores TERM gets KILL when the grace is over",
      timeout: 1000, events: [(11_003, .endOfOutput), (11_004, .exit)],
      expected: ["1000 terminate", "11000 kill", "11004 finish"], cause: .timeout, neededKill: true),
    Scenario(
      testDescription: "without a grace KILL comes first",
      timeout: 1000, grace: 0, events: [(1001, .endOfOutput), (1001, .exit)],
      expected: ["1000 kill", "1001 finish"], cause: .timeout, neededKill: true),
    Scenario(
      testDescription: "K09: the leader obeys TERM, the others have the whole grace, then KILL",
      events: [(50, .stop(.graceful)), (60, .exit), (70, .endOfOutput)], groupLivesUntil: 60_000,
      expected: ["50 terminate", "10050 kill", "10050 finish"], cause: .cancelled, neededKill: true),
    Scenario(
      testDescription: "others that end within the grace are not killed",
      events: [(50, .stop(.graceful)), (60, .exit), (62, .endOfOutput)], groupLivesUntil: 63,
      expected: ["50 terminate", "63 finish"], cause: .cancelled),
    Scenario(
      testDescription: "a second, harder stop kills now",
      events: [
        (50, .stop(.graceful)), (80, .stop(.now)), (82, .endOfOutput), (82, .exit),
      ], expected: ["50 terminate", "80 kill", "82 finish"], cause: .cancelled, neededKill: true),
    Scenario(
      testDescription: "a harder stop kills the others too, when the leader has gone",
      events: [(50, .stop(.graceful)), (60, .exit), (80, .stop(.now))], groupLivesUntil: 60_000,
      expected: ["50 terminate", "80 kill", "80 finish"], cause: .cancelled, neededKill: true),
    Scenario(
      testDescription: "a stop that is hard at first sends no TERM",
      events: [(50, .stop(.now)), (52, .endOfOutput), (52, .exit)],
      expected: ["50 kill", "52 finish"],
      cause: .cancelled, neededKill: true),
    Scenario(
      testDescription: "K13: stopping twice is stopping once",
      events: [
        (50, .stop(.graceful)), (60, .stop(.graceful)), (70, .endOfOutput), (70, .exit),
      ], expected: ["50 terminate", "70 finish"], cause: .cancelled),
    Scenario(
      testDescription: "a stop after the timeout does not change who did it",
      timeout: 100, events: [(150, .stop(.graceful)), (170, .endOfOutput), (170, .exit)],
      expected: ["100 terminate", "170 finish"], cause: .timeout),
    Scenario(
      testDescription: "K12: an exit noticed with the stop comes before it",
      events: [(50, .exit), (50, .stop(.graceful)), (50, .endOfOutput)], expected: ["50 finish"]),
    Scenario(
      testDescription: "K12: an exit noticed at the timeout comes before it",
      timeout: 50, events: [(50, .exit), (50, .endOfOutput)], expected: ["50 finish"]),
    Scenario(
      testDescription: "the timeout does not run on while held output is drained",
      timeout: 50, events: [(40, .exit)], expected: ["140 finish"]),
    Scenario(
      testDescription: "silence from the start ends it when it has lasted too long",
      stallTimeout: 200, events: [(210, .endOfOutput), (210, .exit)],
      expected: ["200 terminate", "210 finish"], cause: .stall),
    Scenario(
      testDescription: "every piece of output puts the end for silence off",
      stallTimeout: 200,
      events: [(150, .output), (300, .output), (510, .endOfOutput), (510, .exit)],
      expected: ["500 terminate", "510 finish"], cause: .stall),
    Scenario(
      testDescription: "who has closed its output is silent",
      stallTimeout: 200, events: [(150, .output), (160, .endOfOutput), (360, .exit)],
      expected: ["350 terminate", "360 finish"], cause: .stall),
    Scenario(
      testDescription: "what ignores being asked to end for its silence is killed, writing or not",
      stallTimeout: 200, grace: 100, events: [(250, .output), (310, .endOfOutput), (310, .exit)],
      expected: ["200 terminate", "300 kill", "310 finish"], cause: .stall, neededKill: true),
    Scenario(
      testDescription: "silence does not matter after the exit",
      stallTimeout: 50, events: [(40, .exit)], expected: ["140 finish"]),
    Scenario(
      testDescription: "of two limits the one that is reached first counts",
      timeout: 300, stallTimeout: 200,
      events: [(150, .output), (310, .endOfOutput), (310, .exit)],
      expected: ["300 terminate", "310 finish"], cause: .timeout),
    Scenario(
      testDescription: "of two limits that are reached together the one for all of it counts",
      timeout: 200, stallTimeout: 200, events: [(210, .endOfOutput), (210, .exit)],
      expected: ["200 terminate", "210 finish"], cause: .timeout),
    Scenario(
      testDescription: "a hard stop does not wait for held output",
      events: [(40, .exit), (60, .stop(.now))], expected: ["60 finish"]),
    Scenario(
      testDescription: "after a stop, output held from outside the group is drained as ever",
      events: [(40, .stop(.graceful)), (45, .exit)], expected: ["40 terminate", "145 finish"],
      cause: .cancelled),
    Scenario(
      testDescription: "what cannot be killed is given up after 5 s",
      events: [(5, .endOfOutput), (9, .exit)], groupLivesUntil: .max, groupIsMortal: false,
      expected: ["109 kill group", "5109 finish"], gaveUp: true),
    Scenario(
      testDescription: "after a failure everything is ended, wherever it went",
      events: [(5, .endOfOutput), (9, .failure)], groupLivesUntil: 60_000,
      expected: ["9 kill", "9 finish"]),
    Scenario(
      testDescription: "K14: stopped, what cannot be killed is given up 5 s after KILL",
      events: [(50, .stop(.graceful)), (55, .endOfOutput), (60, .exit)], groupLivesUntil: .max,
      groupIsMortal: false, expected: ["50 terminate", "10050 kill", "15050 finish"],
      cause: .cancelled, neededKill: true,
      gaveUp: true),
    Scenario(
      testDescription: "leftovers that are kept are left alone after a success",
      keepsLeftovers: true, events: [(5, .endOfOutput), (9, .exit)], groupLivesUntil: 60_000,
      expected: ["9 finish"]),
    Scenario(
      testDescription: "kept leftovers go when the program has failed",
      keepsLeftovers: true, events: [(5, .endOfOutput), (9, .failure)], groupLivesUntil: 60_000,
      expected: ["9 kill", "9 finish"]),
    Scenario(
      testDescription: "kept leftovers go when the program was stopped",
      keepsLeftovers: true,
      events: [(5, .endOfOutput), (7, .stop(.graceful)), (9, .exit)], groupLivesUntil: 60_000,
      expected: ["7 terminate", "10007 kill", "10007 finish"], cause: .cancelled, neededKill: true),
  ]

  @Test(arguments: scenarios)
  func endsAsItShould(_ scenario: Scenario) {
    var player = Player(scenario)
    player.play()
    #expect(player.acts == scenario.expected)
    #expect(player.ending.cause == scenario.cause)
    #expect(player.ending.neededKill == scenario.neededKill)
    #expect(player.ending.gaveUp == scenario.gaveUp)
  }

  @Test func leftAloneWithoutATimeoutItWaitsForEver() {
    var ending = Ending(startedAt: .seconds(7), timeout: nil, grace: .seconds(10))
    #expect(ending.next(at: .seconds(7)) == .wait(until: nil))
    #expect(ending.next(at: .seconds(1_000_000_000)) == .wait(until: nil))
  }
}

/// Advances a virtual clock from one event to the next.
private struct Player {
  var ending: Ending
  var acts: [String] = []
  private var now = 0
  private var scenario: Scenario
  private var groupWasKilled = false

  init(_ scenario: Scenario) {
    self.scenario = scenario
    ending = Ending(
      startedAt: .zero, timeout: scenario.timeout.map { .milliseconds($0) },
      stallTimeout: scenario.stallTimeout.map { .milliseconds($0) },
      grace: .milliseconds(scenario.grace), keepsLeftovers: scenario.keepsLeftovers)
  }

  mutating func play() {
    while true {
      switch ending.next(at: .milliseconds(now)) {
      case .wait(let time):
        let due = time.map { Int($0 / .milliseconds(1)) }
        guard let next = [due, scenario.events.first?.at].compactMap(\.self).min() else {
          acts.append("\(now) hangs")
          return
        }
        now = next
        happen()
      case .check: ending.recordOthers(areGone: groupIsEmpty, at: .milliseconds(now))
      case .terminate: acts.append("\(now) terminate")
      case .kill(let scope):
        acts.append("\(now) kill\(scope == .everything ? "" : " group")")
        groupWasKilled = scenario.groupIsMortal
      case .finish:
        acts.append("\(now) finish")
        return
      }
    }
  }

  private var groupIsEmpty: Bool { groupWasKilled || now >= scenario.groupLivesUntil }

  private mutating func happen() {
    while let (at, event) = scenario.events.first, at <= now {
      scenario.events.removeFirst()
      switch event {
      case .output: ending.outputArrived(at: .milliseconds(now))
      case .endOfOutput: ending.outputEnded()
      case .exit: ending.leaderExited(at: .milliseconds(now))
      case .failure: ending.leaderExited(at: .milliseconds(now), succeeded: false)
      case .stop(let level): ending.stopRequested(level)
      }
    }
  }
}
