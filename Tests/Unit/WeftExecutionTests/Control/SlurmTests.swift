import Testing
import WeftDefinition
import WeftEvents
import WeftPlatform

@testable import WeftExecution

@Suite struct SlurmTests {
  private static let run = RunID("20261128-000000-abcdef")

  private func jobs(_ output: String) -> JobQueue {
    SlurmQueue.jobs(of: Self.run, in: Array(output.utf8))
  }

  @Test func jobsOfTheRunAreFoundByTheirComments() {
    let queue = jobs(
      """
      weft \(Self.run.text) word|7|2|RUNNING|n[1-2]|None
      weft \(Self.run.text) word|7|3|PENDING||Priority
      weft \(Self.run.text) other|8|N/A|COMPLETED|n1|None
      weft 20261128-000000-000000 word|9|N/A|RUNNING|n1|None
      a|b|10|N/A|RUNNING|n1|None
      weft \(Self.run.text) word|11|N/A|RUNNING
      """)
    #expect(queue.entries.count == 3)
    let second = queue.entries[JobKey(word: "word", index: 2)]
    #expect(second?.id == "7_2" && second?.phase == .running && second?.news == "job 7_2 on n[1-2]")
    let third = queue.entries[JobKey(word: "word", index: 3)]
    #expect(third?.phase == .waiting && third?.news == "waits in Slurm: Priority")
    let other = queue.entries[JobKey(word: "other", index: 0)]
    #expect(other?.id == "8" && other?.phase == .over && other?.state == "COMPLETED")
  }

  @Test(arguments: [
    ("5", [5]), ("0-3", [0, 1, 2, 3]), ("1,4-5,9", [1, 4, 5, 9]), ("0-8:4%2", [0, 4, 8]),
    ("", []), ("x", []), ("3-1", []), ("-", []), ("0-99999999", []), ("1-2-3-4", [1]),
    ("2-8:0", []),
  ])
  func elementsThatWaitAreOnOneLine(indices: String, expected: [Int]) {
    let queue = jobs("weft \(Self.run.text) word|7|\(indices)|PENDING||Priority")
    #expect(queue.entries.keys.map(\.index).sorted() == expected)
    for (key, entry) in queue.entries {
      #expect(entry.id == "7_\(key.index)" && entry.unfinished == [entry.id])
      #expect(entry.phase == .waiting && entry.news == "waits in Slurm: Priority")
    }
  }

  @Test func linesWithTheSameTextsDoNotMixThem() {
    let queue = jobs(
      """
      weft \(Self.run.text) a|7|0-1|PENDING||Priority
      weft \(Self.run.text) b|8|0|RUNNING|n1|None
      weft \(Self.run.text) b|8|1|RUNNING|n2|None
      weft \(Self.run.text) a|7|2|COMPLETED|n1|None
      weft \(Self.run.text) b|9|0|COMPLETED|n1|None
      """)
    func entry(_ word: String, _ index: Int) -> JobQueue.Entry? {
      queue.entries[JobKey(word: word, index: index)]
    }
    #expect(entry("b", 0)?.news == "job 8_0 on n1" && entry("b", 1)?.news == "job 8_1 on n2")
    #expect(entry("a", 2)?.id == "7_2" && entry("a", 2)?.phase == .over)
    #expect(entry("a", 1)?.phase == .waiting && queue.entries.count == 5)
  }

  @Test func recordsOfAJobHaveItsStateAndItsUsage() {
    let output = """
      7|TIMEOUT|1-02:03:04|00:01.5|
      7.batch|CANCELLED|1-02:03:04|00:01.5|219652K
      7.extern|COMPLETED|00:00.000|00:00.000|
      8_2|CANCELLED by 1000|02:00.250|00:00|
      8_2.batch|CANCELLED|02:00.250|00:00|0
      9|RUNNING|00:00|00:00|
      9.batch|RUNNING|||
      10|NODE_FAIL|||
      10.batch|CANCELLED|||3G
      11
      """
    let records = SlurmRecords.records(in: Array(output.utf8))
    #expect(
      records == [
        "7": JobRecord(
          state: "TIMEOUT",
          usage: ResourceUsage(
            userTime: .seconds(93_784), systemTime: .milliseconds(1_500),
            peakMemoryBytes: 219_652 << 10)),
        "8_2": JobRecord(
          state: "CANCELLED",
          usage: ResourceUsage(userTime: .milliseconds(120_250), systemTime: .zero)),
        "10": JobRecord(state: "NODE_FAIL"),
      ])
  }

  @Test(arguments: [["RUNNING", "FAILED"], ["FAILED", "RUNNING"]])
  func ofABatchThatWasSubmittedTwiceTheJobThatRunsCounts(states: [String]) {
    let lines = states.enumerated().map { index, state in
      "weft \(Self.run.text) word|\(index)|N/A|\(state)|n1|None"
    }
    let entry = jobs(lines.joined(separator: "\n")).entries[JobKey(word: "word", index: 0)]
    #expect(entry?.state == "RUNNING" && entry?.unfinished.count == 1)
  }

  @Test(arguments: [["RUNNING", "PENDING"], ["PENDING", "RUNNING"]])
  func ofABatchThatWasSubmittedTwiceAllJobsAreCancelled(states: [String]) {
    let lines = states.enumerated().map { index, state in
      "weft \(Self.run.text) word|\(index)|N/A|\(state)|n1|None"
    }
    let entry = jobs(lines.joined(separator: "\n")).entries[JobKey(word: "word", index: 0)]
    #expect(entry?.state == "RUNNING" && entry?.unfinished.sorted() == ["0", "1"])
  }

  @Test(arguments: [
    ("2000 1", 1, false), ("999 1", 1, true), ("2000 1", 2, true), ("2000 2", 2, false),
  ])
  func anEndThatWasTakenBeforeAStartIsThatOfAnEarlierAttempt(
    text: String, attempt: Int, isBefore: Bool
  ) throws {
    var step = RecordedStep(.started(attempt: attempt))
    step.startedAt = WallTime(nanoseconds: 1_000)
    #expect(try #require(JobTaking(text)).isBefore(step) == isBefore)
    #expect(JobTaking("") == nil && JobTaking("1") == nil && JobTaking("x 1") == nil)
  }

  @Test(arguments: [
    ("OUT_OF_MEMORY", ["limit", "limit:memory"]), ("NODE_FAIL", ["runner", "runner:node-fail"]),
    ("BOOT_FAIL", ["runner", "runner:boot-fail"]), ("PREEMPTED", ["runner", "runner:preempted"]),
    ("CANCELLED", ["runner", "runner:cancelled"]), ("TIMEOUT", ["timeout"]),
  ])
  func whatAClusterEndsHasAClass(state: String, classes: [String]) throws {
    let end = try #require(SlurmState(state).end(of: "7", limit: nil, asked: nil))
    guard case .failed(let failure) = end else {
      Issue.record("\(state) is no failure")
      return
    }
    #expect(failure.classes.map(\.name) == classes)
    #expect(failure.classes.allSatisfy { ErrorClass($0.name) != nil })
  }

  @Test(arguments: ["COMPLETED", "FAILED", "RUNNING", "PENDING", "COMPLETING"])
  func theProgramItselfTellsOtherEnds(state: String) {
    #expect(SlurmState(state).end(of: "7", limit: nil, asked: nil) == nil)
  }

  @Test func aRequestedTimeThatHasPassedIsATimeLimit() {
    #expect(
      SlurmState("TIMEOUT").end(of: "7", limit: .seconds(60), asked: nil)
        == .timedOut(after: .seconds(60), nil))
  }

  @Test(arguments: [
    "", "end", "end 0", "end 0 - - - - -", "end x - - - - - 1 2", "end 0 - - - - - x 2",
    "end 0 - - - - - 1 2 3", "begin 0 - - - - - 1 2",
  ])
  func aFileThatIsNotWholeIsNoEnd(text: String) { #expect(RemoteEnd(text) == nil) }

  @Test func anEndHasAStatusAndLengths() {
    #expect(RemoteEnd("end missing - - - - - 0 0\n")?.status == .noProgram)
    #expect(RemoteEnd("end directory - - - - - 0 0\n")?.status == .noDirectory)
    let end = RemoteEnd("end 137 - - - - - 12 3\n")
    #expect(end?.status == .ended(137) && end?.outputBytes == 12 && end?.errorBytes == 3)
  }

  @Test(arguments: [
    "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
    "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
    "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying",
    "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job "
      + "violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
  ])
  func aClusterThatTakesNoJobsNowIsAskedAgain(text: String) {
    guard case .busy = SlurmCommands.refusal(text) else {
      Issue.record("\(text) is not taken as busy")
      return
    }
  }

  @Test func otherRefusalsAreFailures() {
    let text = "sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job "
    guard case .refused(let failure) = SlurmCommands.refusal(text + "submission failed: Invalid")
    else {
      Issue.record("not refused")
      return
    }
    #expect(failure.classes == [.runner])
    #expect(failure.message.hasSuffix("Batch job submission failed: Invalid"))
    guard case .tooLarge = SlurmCommands.refusal("Invalid job array specification") else {
      Issue.record("not too large")
      return
    }
  }

  @Test func requestsAreOptions() {
    let cluster = SlurmCluster(requests: [.partition: "a b", .qos: "-x"], options: ["--nice"])
    let resources = Command.Resources(
      cpus: 2, memory: ByteCount(1_500), gpus: 1, time: .seconds(61))
    #expect(
      SlurmRequest(cluster, resources, timeout: nil).arguments == [
        "--partition=a b", "--qos=-x", "--nice", "--cpus-per-task=2", "--mem=2K", "--gpus=1",
        "--time=2",
      ])
    #expect(
      SlurmRequest(SlurmCluster(), nil, timeout: .seconds(30)).arguments == ["--time=2"])
    #expect(SlurmRequest(SlurmCluster(), nil, timeout: nil).arguments == [])
  }

  @Test(arguments: [
    (Duration.milliseconds(1), 1), (.seconds(60), 1), (.milliseconds(60_001), 2),
    (.seconds(3_600), 60),
  ])
  func aRequestedTimeIsNoLongerThanItsMinute(time: Duration, minutes: Int) {
    let request = SlurmRequest(SlurmCluster(), Command.Resources(time: time), timeout: nil)
    #expect(request.arguments == ["--time=\(minutes)"])
  }

  @Test func whatAStepRequestsWinsOverOptionsOfItsCluster() {
    let cluster = SlurmCluster(options: ["--mem=4G"])
    let request = SlurmRequest(cluster, Command.Resources(memory: ByteCount(1 << 30)), timeout: nil)
    #expect(request.arguments == ["--mem=4G", "--mem=1048576K"])
  }

  @Test func aBatchIsNamedAfterItsStepAndItsLogIsNoPattern() {
    let arguments = SlurmScheduler.arguments(
      [], name: "a/b[ü]", comment: "weft x y", count: 3, log: "/tmp/100%A/log")
    #expect(arguments.contains("--job-name=weft-a_b___"))
    #expect(arguments.contains("--array=0-2") && arguments.contains("--output=/tmp/100%%A/log"))
  }

  @Test func listsAreMoreRareIfSlurmIsSlow() {
    var listing = JobListing(from: .seconds(-2), every: .seconds(2))
    #expect(!listing.isDue(at: .milliseconds(-1)) && listing.isDue(at: .zero))
    listing.ended(from: .zero, to: .milliseconds(10), isComplete: true)
    #expect(!listing.isDue(at: .milliseconds(2_000)) && listing.isDue(at: .milliseconds(2_010)))
    listing.ended(from: .seconds(3), to: .seconds(4), isComplete: true)
    #expect(!listing.isDue(at: .seconds(23)) && listing.isDue(at: .seconds(24)))
    for _ in 0..<5 { listing.ended(from: .seconds(30), to: .seconds(30), isComplete: false) }
    #expect(!listing.isDue(at: .seconds(59)) && listing.isDue(at: .seconds(60)))
  }

  @Test(arguments: [0, 1, 20, 21, 1_000, 100_000])
  func allJobsHaveTheirTurns(count: Int) {
    var turns = JobTurns()
    var seen: Set<Int> = []
    var passes = 0
    repeat {
      let turn = turns.take(of: count)
      #expect(turn.upperBound <= count && turn.count <= JobTurns.rate)
      seen.formUnion(turn)
      passes += 1
    } while seen.count < count
    let time = JobTurns.pause(of: count) * passes
    let least = Duration.seconds(1) * (count - JobTurns.rate) / JobTurns.rate
    #expect(count <= JobTurns.atOnce ? passes == 1 : time >= least)
  }

  @Test func aClaimIsRecognizedByTheNextEngine() throws {
    let folder = try Folder()
    defer { Directory.removeTree(folder.path) }
    let (waiting, begun) = (
      JobDirectory(path: folder.path + "/waiting"), JobDirectory(path: folder.path + "/begun")
    )
    for path in [waiting.path, begun.path, begun.file(JobDirectory.started)] {
      try FileSystem.makeDirectory(path, mode: 0o700)
    }
    // An engine may be killed after each of these.
    #expect(waiting.claim() && waiting.claim())
    #expect(!begun.claim() && !begun.claim())
    #expect(JobDirectory(path: folder.path + "/gone").claim())
  }

  @Test func turnsGoOnWhenJobsEnd() {
    var turns = JobTurns()
    #expect(turns.take(of: 30) == 0..<20)
    #expect(turns.take(of: 25) == 20..<25)
    #expect(turns.take(of: 21) == 0..<20)
    #expect(turns.take(of: 3) == 0..<3)
  }
}
