import Testing

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

@Suite struct CleaningPolicyTests {
  /// The newest first, a day apart; the first began an hour ago.
  private static let ids = (0..<5).map { RunID("202611\(20 - $0)-230000-00000\($0)") }
  private static let now = RunID("20261121-000000-000000").startedAt!

  private func candidates(
    _ standings: [RunRetention] = Array(repeating: .ended, count: 5)
  ) -> [CleaningPolicy.Candidate] {
    zip(CleaningPolicyTests.ids, standings).map { CleaningPolicy.Candidate($0, $1, bytes: 100) }
  }

  private func removed(
    _ policy: CleaningPolicy, _ candidates: [CleaningPolicy.Candidate]
  ) -> [Int] {
    policy.decision(on: candidates, now: CleaningPolicyTests.now).removed.map {
      CleaningPolicyTests.ids.firstIndex(of: $0.run)!
    }
  }

  @Test(
    "the oldest go, and are told first",
    arguments: [
      (CleaningPolicy(count: 5), []), (CleaningPolicy(count: 3), [4, 3]),
      (CleaningPolicy(count: 0), [4, 3, 2, 1, 0]), (CleaningPolicy(), []),
      (CleaningPolicy(age: .seconds(3 * 86_400)), [4, 3]),
      (CleaningPolicy(age: .zero), [4, 3, 2, 1, 0]),
      (CleaningPolicy(bytes: 250), [4, 3, 2]), (CleaningPolicy(bytes: 500), []),
      (CleaningPolicy(bytes: 0), [4, 3, 2, 1]),
      (CleaningPolicy(count: 4, age: .seconds(2 * 86_400)), [4, 3, 2]),
    ])
  func oldestRunsAreRemovedFirst(policy: CleaningPolicy, expected: [Int]) {
    #expect(removed(policy, candidates()) == expected)
  }

  @Test func heldOrUnknownRunsStayAndCount() {
    let all = candidates([.held, .unknown(reason: "x"), .ended, .held, .ended])
    #expect(removed(CleaningPolicy(count: 0, removesUnfinished: true), all) == [4, 2])
    #expect(removed(CleaningPolicy(count: 3), all) == [4])
    #expect(removed(CleaningPolicy(bytes: 200), all) == [4, 2])
  }

  @Test func resumableRunIsRemovedOnlyOnRequest() {
    let all = candidates([.ended, .unfinished, .ended, .unfinished, .ended])
    let policy = CleaningPolicy(count: 1)
    #expect(removed(policy, all) == [4, 2])
    let resumable = policy.decision(on: all, now: CleaningPolicyTests.now).resumable
    #expect(resumable.map(\.run) == [CleaningPolicyTests.ids[1], CleaningPolicyTests.ids[3]])
    #expect(removed(CleaningPolicy(count: 1, removesUnfinished: true), all) == [4, 3, 2, 1])
  }
}
