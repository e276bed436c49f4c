import Testing
import WeftDefinition
import WeftEvents
import WeftExecution

/// Random runs, killed at any event and resumed.
@Suite struct ResumingTests {
  @Test(
    "J01, J28: however often a run is killed, it repeats nothing recorded, and ends as if undisturbed"
  )
  func aKilledRunRepeatsNothingRecordedAndEndsAsTheUndisturbedRun() async {
    let runs = await Seeds.map { seed -> (kills: Int, restored: Int, isCompared: Bool)? in
      guard let run = InterruptedRun(seed: seed, isIdempotent: seed % 2 == 0) else { return nil }
      if Seeds.isOne { run.report() }
      let checker = ResumeChecker(run.made, run.parts)
      let violations =
        checker.violations + ServiceChecker(run.made, run.parts).violations
        + RerunChecker(run.made, run.parts).violations
        + ErrorChecker(run.made, run.parts).violations
      #expect(violations == [], "seed \(seed)")
      #expect(run.wrongForecasts == [], "seed \(seed)")
      // Steps in doubt do not run again, so that the end is another one.
      let isCompared = seed % 2 == 0 && run.endsAsUndisturbed
      if isCompared, let end = run.undisturbed.report.end {
        let last = run.parts.last?.end
        #expect(last?.outcome == .success, "seed \(seed)")
        #expect(last?.counts.succeeded == end.counts.succeeded, "seed \(seed)")
        #expect(last?.counts.skipped == end.counts.skipped, "seed \(seed)")
      }
      return (run.parts.count - 1, checker.restored, isCompared)
    }
    let kills = runs.map(\.kills).reduce(0, +)
    let restored = runs.map(\.restored).reduce(0, +)
    let compared = runs.count { $0.isCompared }
    print("\(kills) kills, \(restored) steps stood")
    print("\(compared) runs end as if nobody had killed them")
    #expect(Seeds.count < 1_000 || restored > kills && compared > 20)
  }

  @Test func suspendedRunResumesWithTheAnswers() async {
    let runs = await Seeds.map { seed -> (departures: Int, isCompared: Bool)? in
      guard let run = LeftRun(seed: seed, approvesAll: seed % 2 == 0) else { return nil }
      if Seeds.isOne { run.report() }
      #expect(ResumeChecker(run.made, run.parts).violations == [], "seed \(seed)")
      #expect(ServiceChecker(run.made, run.parts).violations == [], "seed \(seed)")
      #expect(RerunChecker(run.made, run.parts).violations == [], "seed \(seed)")
      #expect(AnswerChecker(run.parts).violations == [], "seed \(seed)")
      // No `finally` or cleanup step runs before the end.
      for part in run.parts.dropLast() {
        #expect(part.events.last.map { $0.kind.isWaiting } == true, "seed \(seed)")
      }
      guard seed % 2 == 0, !run.wasEnded, let undisturbed = Simulation(seed: seed, run.made),
        undisturbed.hasGoneSmoothly,
        // Approvals are not answered as soon as in the other run, and a time limit may pass meanwhile.
        Feature.all(of: undisturbed).isDisjoint(with: [
          .race, .join, .cleanup, .finally, .stepTimeout, .groupTimeout, .runTimeout,
        ])
      else { return (run.departures, false) }
      #expect(run.parts.last?.end?.outcome == .success, "seed \(seed)")
      return (run.departures, true)
    }
    let departures = runs.map(\.departures).reduce(0, +)
    let compared = runs.count { $0.isCompared }
    print("left \(departures) times; \(compared) runs end as if somebody had been there")
    #expect(Seeds.count < 1_000 || departures > 100 && compared > 20)
  }

  @Test("X35: an answer is kept until its question takes it, whatever ends the engines until then")
  func answersAreKept() async {
    let runs = await Seeds.map { seed -> (parts: Int, answers: Int)? in
      guard let run = LeftRun(seed: seed, approvesAll: seed % 2 == 0, isDisturbed: true) else {
        return nil
      }
      if Seeds.isOne { run.report() }
      let violations =
        AnswerChecker(run.parts).violations + ResumeChecker(run.made, run.parts).violations
        + ServiceChecker(run.made, run.parts).violations
        + RerunChecker(run.made, run.parts).violations
        + ErrorChecker(run.made, run.parts).violations
      #expect(violations == [], "seed \(seed)")
      return (run.parts.count, run.parts.reduce(0) { $0 + $1.answers.count })
    }
    let answers = runs.map(\.answers).reduce(0, +)
    print("\(answers) answers in \(runs.map(\.parts).reduce(0, +)) parts")
    #expect(Seeds.count < 1_000 || answers > 100)
  }

  @Test(arguments: [
    ("a group that never started is cleaned up after, as one that is retried tells of it", 6051),
    ("what is cleaned up after is done again for those that never will be", 10314),
    ("a step of many is done again for what cleans up", 7772),
    ("what an element has left is not cleaned up after in a race that has been won", 7999),
    ("a group stands that had ended before the one around it was tried again", 23624),
    ("a group that stands begins in one that does not, and never ends", 28984),
    ("what a group had left that was to be tried again, and was not, starts in a done one", 47056),
    ("the same in a race", 54043),
    ("what was not to be tried again, for the race was won, is taken for replaced", 15478),
    ("the same of a group in a group", 21203),
    ("the same over several engines", 51024),
    ("the same in an element", 54894),
    ("the same of several steps", 56808),
  ])
  func pastDefectsOfKilledRunsStayFixed(_ found: String, seed: UInt64) throws {
    let run = try #require(InterruptedRun(seed: seed, .values, isIdempotent: seed % 2 == 0))
    #expect(ResumeChecker(run.made, run.parts).violations == [], "\(found)")
  }

  @Test(arguments: [
    ("a retried group that is skipped if not cancelled() needs what was cleaned up", 2147),
    ("what stands in a group that never started is forecast to run again", 2185),
    ("what was cleaned up, and a service needs for a cleanup, is forecast to run again", 8459),
    ("a loop needs what was cleaned up for steps that are done in each of its elements", 4819),
    ("a loop of groups with a race needs it for the losers", 6082),
    ("the cleanup of a group runs without a service that a member needs which is done", 9832),
    ("an element that was cleaned up, and that its loop does not reach, is restored", 9679),
    ("an element of a loop in a retried group that its loop does not reach is restored", 6507),
  ])
  func pastDefectsOfForecastsStayFixed(_ found: String, seed: UInt64) throws {
    let run = try #require(InterruptedRun(seed: seed, .services, isIdempotent: seed % 2 == 0))
    #expect(RerunChecker(run.made, run.parts).violations == [], "\(found)")
    #expect(ServiceChecker(run.made, run.parts).violations == [], "\(found)")
    #expect(run.wrongForecasts == [], "\(found)")
  }

  @Test(
    "a step that was to run again is due, although nothing needs it any more", arguments: [8370])
  func queuedStepsAreDue(seed: UInt64) throws {
    let run = try #require(
      LeftRun(seed: seed, .services, approvesAll: seed % 2 == 0, isDisturbed: true))
    #expect(ServiceChecker(run.made, run.parts).violations == [])
    #expect(RerunChecker(run.made, run.parts).violations == [])
  }

  @Test("a service is started again in the part in which it ended", arguments: [2303, 3848])
  func servicesStartAgain(seed: UInt64) throws {
    let run = try #require(LeftRun(seed: seed, .services, approvesAll: seed % 2 == 0))
    #expect(ServiceChecker(run.made, run.parts).violations == [])
  }

  @Test(arguments: [
    ("what stands of a group that never started is cleaned up after", 44607),
    ("a run that is being ended waits for an answer for ever", 9064),
  ])
  func pastDefectsOfSuspendedRunsStayFixed(_ found: String, seed: UInt64) throws {
    let run = try #require(LeftRun(seed: seed, .values, approvesAll: seed % 2 == 0))
    #expect(ResumeChecker(run.made, run.parts).violations == [], "\(found)")
  }
}

extension RunEvent.Kind {
  fileprivate var isWaiting: Bool {
    if case .runWaiting = self { true } else { false }
  }
}

extension InterruptedRun {
  /// Whether the run, whose steps are idempotent, has to end as the undisturbed one.
  fileprivate var endsAsUndisturbed: Bool {
    let features = Feature.all(of: undisturbed)
    return undisturbed.hasGoneSmoothly
      && features.isDisjoint(with: [.race, .join, .cleanup, .finally])
      // If an answer and a time limit come in the same moment, either may be first.
      && (!features.contains(.approval)
        || features.isDisjoint(with: [.stepTimeout, .groupTimeout, .runTimeout]))
  }
}

extension Simulation {
  /// Whether nothing failed, tolerated or not, and nothing was cancelled, which may leave some steps without success;
  /// and no group was retried, since the progress of each of its steps depends on when another step failed.
  fileprivate var hasGoneSmoothly: Bool {
    guard let end = report.end, end.outcome == .success, interruptions.isEmpty else { return false }
    return end.counts.tolerated == 0 && end.counts.cancelled == 0
      && events.allSatisfy { event in
        switch event.kind {
        case .groupFinished(_, let end): end.outcome == .success
        case .groupRetrying: false
        default: true
        }
      }
  }
}
