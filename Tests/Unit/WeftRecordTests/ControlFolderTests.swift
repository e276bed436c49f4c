import Dispatch
import Synchronization
import TestSupport
import Testing
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

@Suite struct ControlFolderTests {
  private let scratch: ScratchFolder
  private let state: StateDirectory
  private let folder: RunFolder
  private let control: ControlFolder

  init() throws {
    scratch = try ScratchFolder()
    state = try scratch.state()
    let (folder, writer) = try RunFolder.make(in: state)
    writer.close()
    self.folder = folder
    control = try #require(folder.control)
  }

  private func leave(_ request: ControlRequest, at second: Int64) throws {
    try RunFolder.leave(
      request, for: SampleRecords.run, in: state,
      at: WallTime(nanoseconds: 1_795_274_017_000_000_000 + second * 1_000_000_000))
  }

  private static let requests: [ControlRequest] = [
    .approve("a"), .reject("up[a \"b\"]/x"), .cancel, .kill,
  ]

  @Test func controlRequestsAreTakenOnceInOrder() throws {
    for (index, request) in ControlFolderTests.requests.enumerated().reversed() {
      try leave(request, at: Int64(index))
    }
    #expect(control.take(answersTo: ["a"]) == [.approve("a"), .cancel, .kill])
    #expect(control.take(answersTo: []) == [])
    // An answer stays there until its step asks.
    #expect(control.take(answersTo: ["up[a \"b\"]/x"]) == [.reject("up[a \"b\"]/x")])
    try leave(.cancel, at: 9)
    #expect(taken(1) == [.cancel])
  }

  /// The requests taken after a separate thread has read the folder again.
  private func taken(_ count: Int) -> [ControlRequest] {
    var requests: [ControlRequest] = []
    while requests.count < count { requests += control.take(answersTo: ["a", "b"]) }
    return requests
  }

  @Test("X17: no number of files keeps a request from being heard", .hangLimit)
  func manyFilesHideNothing() throws {
    let place = try folder.directory.directory("control", makes: false)
    for number in 0..<2500 { try place.write([], to: "0-\(number).json", surviving: false) }
    try leave(.cancel, at: 0)
    #expect(taken(1) == [.cancel])
    for number in 0..<1100 { try leave(.approve("a"), at: Int64(number)) }
    #expect(taken(1100).count == 1100)
    control.discard(answersTo: "a")
    try leave(.approve("b"), at: 0)
    #expect(taken(1) == [.approve("b")])
    #expect(place.names().filter { !$0.hasPrefix("0-") }.count == 2)
  }

  @Test func anAnswerThatIsTooLateIsRemoved() throws {
    for second in 0...2 { try leave(.approve("a"), at: Int64(second)) }
    let end = WallTime(nanoseconds: 1_795_274_017_000_000_000 + 1_000_000_000)
    control.discard(answersTo: "a", givenAfter: end)
    #expect(taken(2) == [.approve("a"), .approve("a")])
    #expect(control.take(answersTo: ["a"]) == [])
  }

  @Test("X35: answers that lie there when a step is about to ask are removed, read or not")
  func olderAnswersAreRemoved() throws {
    try leave(.approve("a"), at: 0)
    #expect(control.take(answersTo: []) == [])
    try leave(.reject("a"), at: 1)
    try leave(.approve("b"), at: 2)
    control.discard(answersTo: "a")
    #expect(taken(1) == [.approve("b")])
    try leave(.approve("a"), at: 3)
    #expect(taken(1) == [.approve("a")])
  }

  @Test(
    "X85: a control folder that hangs does not hold up who looks for requests",
    .hangLimit)
  func readingIsNotWaitedFor() throws {
    let (gate, opened) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let hangs = Mutex(false)
    let calls = FileCalls { call in
      if call == .open, hangs.withLock({ $0 }) {
        opened.signal()
        gate.wait()
      }
      return nil
    }
    let path = try folder.directory.directory("control", makes: false).path
    let slow = ControlFolder(try PrivateDirectory.at(path, makes: false, calls: calls))
    #expect(slow.take(answersTo: []) == [])
    try leave(.cancel, at: 0)
    hangs.withLock { $0 = true }
    #expect(slow.take(answersTo: []) == [])
    opened.wait()
    #expect(slow.take(answersTo: []) == [])
    hangs.withLock { $0 = false }
    gate.signal()
    var requests: [ControlRequest] = []
    while requests.isEmpty { requests = slow.take(answersTo: []) }
    #expect(requests == [.cancel])
  }

  @Test func takenRequestStaysForTheNextEngine() throws {
    try leave(.approve("a"), at: 0)
    try leave(.approve("b"), at: 1)
    #expect(control.take(answersTo: ["a", "b"]).count == 2)
    #expect(try #require(folder.control).take(answersTo: ["a", "b"]).count == 2)
    control.close(leaving: ["b"])
    #expect(try #require(folder.control).take(answersTo: ["a", "b"]) == [.approve("b")])
  }

  @Test(arguments: [
    "", "{}", "{\"request\":\"approve\"}", "{\"request\":\"approve\",\"step\":\"\"}",
    "{\"request\":\"approve\",\"step\":\"a\"",
    "{\"request\":\"reboot\"}", "[]", "approve a",
  ])
  func foreignFileIsNotTaken(_ text: String) throws {
    let place = try folder.directory.directory("control", makes: false)
    try place.write(Array(text.utf8), to: "1.json", surviving: false)
    #expect(control.take(answersTo: ["a"]) == [])
  }

  @Test(
    arguments: [
      (ControlRequest.approve("asks"), true), (.reject("asks"), true), (.approve("done"), false),
      (.approve("later"), false), (.cancel, false), (.kill, false),
    ])
  func onlyAnswersSurviveAKilledEngine(_ request: ControlRequest, _ isDue: Bool) {
    #expect(request.isDue(after: Self.recorded(waits: false)) == isDue)
  }

  @Test(arguments: [ControlRequest.cancel, .kill, .approve("asks")])
  func allRequestsSurviveASuspension(_ request: ControlRequest) {
    #expect(request.isDue(after: Self.recorded(waits: true)))
  }

  private static func recorded(waits: Bool) -> RunState {
    let end = StepEnd(
      outcome: .success, conclusion: .success, attempts: 1, exit: nil, duration: .zero)
    var kinds: [RunRecord.Kind] = [
      .opened(SampleRecords.opening), .event(.stepStarted("asks", attempt: 1)),
      .event(.stepAsking("asks", message: "?")), .event(.stepStarted("done", attempt: 1)),
      .event(.stepAsking("done", message: "?")),
      .event(.stepFinished("done", end), keeping: RecordedValues()),
    ]
    if waits {
      kinds.append(
        .event(.runWaiting(RunPause(requests: [], duration: .zero, counts: OutcomeCounts()))))
    }
    var recorded = RunState()
    for (index, kind) in kinds.enumerated() {
      recorded.apply(RunRecord(number: UInt64(index + 1), at: SampleRecords.start, kind))
    }
    return recorded
  }
}

@Suite struct HeldKeyTests {
  @Test func keyIsHeldUntilItsLockIsReleased() throws {
    let scratch = try ScratchFolder()
    let state = try scratch.state()
    let (one, two) = (RunID("20261121-151337-000001"), RunID("20261121-151337-000002"))
    do {
      let lock = try HeldKey.take(
        "deploy/\u{0}…", for: .init(run: one, since: SampleRecords.start), in: .directory(state))
      guard case .taken = lock else { throw Missing() }
      guard
        case .held(let holder) = try HeldKey.take(
          "deploy/\u{0}…", for: .init(run: two, since: SampleRecords.start), in: .directory(state))
      else { throw Missing() }
      #expect(holder == .init(run: one, since: SampleRecords.start))
      guard
        case .taken = try HeldKey.take(
          "other", for: .init(run: two, since: SampleRecords.start), in: .directory(state))
      else {
        throw Missing()
      }
      withExtendedLifetime(lock) {}
    }
    guard
      case .taken = try HeldKey.take(
        "deploy/\u{0}…", for: .init(run: two, since: SampleRecords.start), in: .directory(state))
    else { throw Missing() }
  }

  private struct Missing: Error {}
}
