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

  @Test(arguments: [nil, Outcome.success, .failure, .cancelled])
  func requestsStayForTheNextEngine(after outcome: Outcome?) throws {
    try leave(.approve("a"), at: 0)
    try leave(.approve("b"), at: 1)
    try leave(.cancel, at: 2)
    #expect(control.take(answersTo: ["a"]) == [.approve("a"), .cancel])
    #expect(try #require(folder.control).take(answersTo: ["a", "b"]).count == 3)
    control.close(after: outcome)
    let left: [ControlRequest] =
      switch outcome {
      case nil: [.approve("a"), .approve("b"), .cancel]
      case .success: []
      default: [.approve("a"), .approve("b")]
      }
    #expect(try #require(folder.control).take(answersTo: ["a", "b"]) == left)
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
  private let runs = (1...4).map { RunID("20261121-151337-00000\($0)") }

  @Test func keyIsHeldUntilItsLockIsReleased() throws {
    let scratch = try ScratchFolder()
    let place = ConcurrencyTurn.Place.directory(try scratch.state())
    var one = HeldKey.Request(by: runs[0], replacesOthers: false)
    var two = HeldKey.Request(by: runs[1], replacesOthers: false)
    do {
      let lock = try HeldKey.take("deploy/\u{0}…", for: &one, in: place)
      guard case .taken = lock else { throw Missing() }
      guard case .held(let holder) = try HeldKey.take("deploy/\u{0}…", for: &two, in: place) else {
        throw Missing()
      }
      #expect(holder == one.holder && holder?.run == runs[0])
      guard case .taken = try HeldKey.take("other", for: &two, in: place) else { throw Missing() }
      withExtendedLifetime(lock) {}
    }
    guard case .taken = try HeldKey.take("deploy/\u{0}…", for: &two, in: place) else {
      throw Missing()
    }
  }

  @Test("a run does not take a key for which a later one has come", arguments: [false, true])
  func laterRequestSupersedes(isInDirectory: Bool) throws {
    let scratch = try ScratchFolder()
    let place = isInDirectory ? ConcurrencyTurn.Place.directory(try scratch.state()) : .process
    var requests = runs.map { HeldKey.Request(by: $0, replacesOthers: true) }
    do {
      let lock = try HeldKey.take("latest", for: &requests[0], in: place)
      guard case .taken = lock else { throw Missing() }
      // The order of arrival counts, not that of the requests.
      for index in [2, 3, 1] {
        guard case .held(let holder) = try HeldKey.take("latest", for: &requests[index], in: place)
        else { throw Missing() }
        #expect(holder?.run == runs[0])
      }
      withExtendedLifetime(lock) {}
    }
    for index in [2, 3] {
      guard
        case .superseded(by: runs[1]) = try HeldKey.take("latest", for: &requests[index], in: place)
      else { throw Missing() }
    }
    guard case .taken = try HeldKey.take("latest", for: &requests[1], in: place) else {
      throw Missing()
    }
    #expect(requests[1].holder.since.nanoseconds > requests[3].holder.since.nanoseconds)
  }

  private struct Missing: Error {}
}
