import Testing

@testable import WeftPlatform

/// Made-up process tables; the engine is 100, in session 90.
@Suite struct ProcessTreeTests {
  private func process(
    _ id: Int32, parent: Int32, group: Int32? = nil, session: Int32? = nil, start: UInt64 = 1,
    isAlive: Bool = true
  ) -> ProcessStatus {
    ProcessStatus(
      identity: ProcessIdentity(id: id, startTicks: start), command: "p\(id)", isAlive: isAlive,
      parent: parent, group: group ?? id, session: session ?? group ?? id)
  }

  private var engine: ProcessStatus { process(100, parent: 1, group: 100, session: 90) }

  private func lineage() -> ProcessTree {
    var lineage = ProcessTree(engine: 100, session: 90)
    lineage.began(1, leader: 200)
    lineage.began(2, leader: 300)
    return lineage
  }

  private func living(_ lineage: ProcessTree, _ processes: [ProcessStatus]) -> [Int: [Int32]] {
    lineage.living(in: processes).mapValues { $0.map(\.id).sorted() }
  }

  @Test func membersOfTheSessionAndDescendantsBelongToTheirLeader() {
    var lineage = lineage()
    let table = [
      process(1, parent: 0), engine, process(200, parent: 100), process(300, parent: 100),
      process(201, parent: 200, group: 200),
      process(202, parent: 201),  // setsid
      process(301, parent: 300, group: 301, session: 300),  // a shell's job control
      process(400, parent: 1), process(101, parent: 100, group: 100, session: 90),
    ]
    lineage.observe(table) { _ in nil }
    #expect(living(lineage, table) == [1: [201, 202], 2: [301]])
  }

  @Test func observedProcessStaysKnownWithoutItsParents() {
    var lineage = lineage()
    let before = [
      engine, process(200, parent: 100), process(202, parent: 200),
      process(203, parent: 202, group: 202),
    ]
    lineage.observe(before) { _ in nil }
    // The middle one has gone; its child was adopted by the engine and has a further child.
    let after = [
      engine, process(200, parent: 100, isAlive: false),
      process(203, parent: 100, group: 202), process(204, parent: 203),
      process(205, parent: 1, group: 202),
    ]
    lineage.observe(after) { _ in nil }
    #expect(living(lineage, after) == [1: [203, 204, 205]])
  }

  @Test func anIdThatIsUsedAgainIsAnother() {
    var lineage = lineage()
    lineage.observe([engine, process(200, parent: 100), process(202, parent: 200)]) { _ in nil }
    let after = [engine, process(200, parent: 100), process(202, parent: 1, start: 77)]
    lineage.observe(after) { _ in nil }
    #expect(living(lineage, after) == [:])
  }

  @Test func theLeadersIdIsAnyonesAfterItWasReaped() {
    var lineage = lineage()
    lineage.ended(leader: 200)
    let table = [engine, process(200, parent: 1, start: 9), process(207, parent: 200)]
    lineage.observe(table) { _ in nil }
    #expect(living(lineage, table) == [:])
  }

  @Test func theCookieIsAskedLastAndOnlyOfStrangers() {
    var lineage = lineage()
    let table = [
      engine, process(200, parent: 100), process(201, parent: 200), process(500, parent: 1),
      process(501, parent: 500),
    ]
    var asked: [Int32] = []
    lineage.observe(table) { process in
      asked.append(process.id)
      return process.id == 500 ? 2 : nil
    }
    #expect(asked.sorted() == [100, 500, 501])
    // Its child is recognised by its parent the next time.
    lineage.observe(table) { _ in nil }
    #expect(living(lineage, table) == [1: [201], 2: [500, 501]])
  }

  @Test func enginesSessionBelongsToNoStep() {
    var lineage = ProcessTree(engine: 100, session: 90)
    lineage.began(1, leader: 200)
    let table = [
      engine, process(200, parent: 100, group: 200, session: 90),
      process(201, parent: 200, group: 201, session: 90),
      process(91, parent: 90, group: 91, session: 90),
    ]
    lineage.observe(table) { _ in nil }
    #expect(living(lineage, table) == [1: [201]])
  }

  @Test(
    "X08: a daemon's session is not the run's because of one job that it has started for a step")
  func foreignSessions() {
    var lineage = lineage()
    let table = [
      engine, process(200, parent: 100),
      // The daemon 700 has a session of its own; 701 has the step's environment, 702 is a different job.
      process(700, parent: 1), process(701, parent: 700, group: 701, session: 700),
      process(702, parent: 700, group: 702, session: 700), process(703, parent: 701, session: 700),
      // The creator of session 800 has gone.
      process(801, parent: 1, group: 801, session: 800),
      process(802, parent: 1, group: 801, session: 800),
    ]
    for _ in 0..<2 {
      lineage.observe(table) { [701, 801].contains($0.id) ? 1 : nil }
    }
    #expect(living(lineage, table) == [1: [701, 703, 801]])
  }

  @Test("X08: a session that a known process has made, or in which all are known, is the run's")
  func ownSessions() {
    var lineage = lineage()
    let before = [
      engine, process(200, parent: 100), process(500, parent: 1),
      process(601, parent: 1, group: 601, session: 600, isAlive: true),
    ]
    lineage.observe(before) { [500, 601].contains($0.id) ? 2 : nil }
    // Further processes appear in both; their parents and environments give no hint.
    let after =
      before + [
        process(501, parent: 1, group: 501, session: 500, start: 2),
        process(602, parent: 1, group: 602, session: 600, start: 2),
      ]
    lineage.observe(after) { _ in nil }
    #expect(living(lineage, after) == [2: [500, 501, 601, 602]])
  }

  @Test("X08: a dead member of a session speaks for nobody in it")
  func deadMembers() {
    var lineage = lineage()
    let table = [
      engine, process(200, parent: 100),
      process(601, parent: 1, group: 601, session: 600, isAlive: false),
      process(602, parent: 1, group: 602, session: 600),
    ]
    lineage.observe(table) { $0.id == 601 ? 2 : nil }
    #expect(living(lineage, table) == [:])
  }

  @Test func parentsInACircleEndTheSearch() {
    var lineage = lineage()
    let table = [engine, process(600, parent: 601), process(601, parent: 600)]
    lineage.observe(table) { _ in nil }
    #expect(living(lineage, table) == [:])
  }
}
