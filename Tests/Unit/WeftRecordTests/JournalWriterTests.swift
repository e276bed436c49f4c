import Synchronization
import Testing
import WeftFutures
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

@Suite struct JournalWriterTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// The records whose times follow from the record alone.
  private static let tail: [RunRecord.Kind] = Array(SampleRecords.kinds.dropFirst(2))

  /// Writes everything, and returns what was refused.
  private func write(
    _ calls: FaultyCalls, durability: RecordDurability = .power
  ) throws -> (writer: JournalWriter, refused: [RunRecord.Kind], folder: RunFolder) {
    let (folder, writer) = try RunFolder.make(
      in: try scratch.state(calls.calls), durability: durability)
    calls.isArmed.store(true, ordering: .relaxed)
    var refused: [RunRecord.Kind] = []
    for (index, kind) in JournalWriterTests.tail.enumerated() {
      do { try writer.record(kind, elapsed: .milliseconds(index)) } catch { refused.append(kind) }
    }
    writer.close()
    return (writer, refused, folder)
  }

  private func kinds(in folder: RunFolder) throws -> [RunRecord.Kind] {
    var kinds: [RunRecord.Kind] = []
    let contents = try folder.contents { kinds.append($0.kind) }
    #expect(contents.damage == nil)
    #expect(contents.tornBytes == 0)
    return Array(kinds.dropFirst())
  }

  @Test(arguments: RecordDurability.allCases)
  func writtenRecordsAreReadBack(durability: RecordDurability) throws {
    let (writer, refused, folder) = try write(FaultyCalls(), durability: durability)
    #expect(refused.isEmpty)
    #expect(writer.fault == nil)
    #expect(try kinds(in: folder) == JournalWriterTests.tail)
  }

  @Test("J11: short writes leave whole records", arguments: [1, 7, 100])
  func shortWrites(bytes: Int) throws {
    let (_, refused, folder) = try write(FaultyCalls(.write, .every(.short(bytes))))
    #expect(refused.isEmpty)
    #expect(try kinds(in: folder) == JournalWriterTests.tail)
  }

  @Test(
    "J08: on a full disk the torn part goes, nothing begins, and what has begun is told from the reserve",
    arguments: [SystemError.noSpace, .overQuota, .fileTooBig])
  func fullDisk(error: SystemError) throws {
    for first in 1...JournalWriterTests.tail.count {
      let scratch = try ScratchFolder()
      let calls = FaultyCalls(.write, .once(after: first - 1, .error(error)))
      let (folder, writer) = try RunFolder.make(
        in: try scratch.state(calls.calls), durability: .process)
      calls.isArmed.store(true, ordering: .relaxed)
      var written: [RunRecord.Kind] = []
      for (index, kind) in JournalWriterTests.tail.enumerated() {
        do {
          try writer.record(kind, elapsed: .zero)
          written.append(kind)
          #expect(index < first - 1 || !kind.announcesAct)
        } catch {
          #expect(kind.announcesAct)
          #expect(error.message.contains("it needs "))
          #expect(error.message.contains(" bytes on \"\(folder.journalPath)\""))
        }
      }
      writer.close()
      #expect(writer.fault != nil)
      #expect(try kinds(in: folder) == written)
    }
  }

  @Test(
    "J09: after EIO or EROFS nothing more is written, and the error is named", arguments: [5, 30])
  func brokenDisk(number: Int32) throws {
    let calls = FaultyCalls(.write, .once(after: 3, .error(SystemError(number: number))))
    let (writer, refused, folder) = try write(calls, durability: .process)
    #expect(refused == Array(JournalWriterTests.tail.dropFirst(3)))
    #expect(writer.fault?.message.contains(SystemError(number: number).name) == true)
    #expect(try kinds(in: folder) == Array(JournalWriterTests.tail.prefix(3)))
  }

  @Test("J10: when the disk cannot keep it, it is lost, and not tried again")
  func failedSynchronization() throws {
    let calls = FaultyCalls(.synchronize, .once(after: 0, .error(SystemError(number: 5))))
    let (writer, refused, _) = try write(calls)
    // Records that nothing waits for had been written.
    #expect(refused == Array(JournalWriterTests.tail.drop { !$0.isDecisive }))
    #expect(calls.count(.synchronize) == 1)
    #expect(writer.fault?.message.contains("may be lost") == true)
  }

  private static let end = RunRecord.Kind.event(
    .stepFinished(
      StepAddress("a"),
      StepEnd(
        outcome: .success, conclusion: .success, attempts: 1, exit: .code(0),
        duration: .zero)))

  @Test(arguments: [true, false])
  func durabilityIsReportedLater(isUrgent: Bool) async throws {
    let calls = FaultyCalls()
    let (folder, writer) = try RunFolder.make(
      in: try scratch.state(calls.calls), durability: .power)
    calls.isArmed.store(true, ordering: .relaxed)
    let safe = try (0..<20).map { _ in
      try #require(
        try writer.write(JournalWriterTests.end, elapsed: .zero, isUrgent: { isUrgent }))
    }
    for future in safe { await future.value }
    #expect((1...20).contains(calls.count(.synchronize)))
    writer.close()
    #expect(try kinds(in: folder).count == 20)
    #expect(
      try writer.write(JournalWriterTests.end, elapsed: .zero, isUrgent: { isUrgent }) == nil)
  }

  @Test("J10: who goes on meanwhile is told, too, when the disk cannot keep it")
  func failedSynchronizationMeanwhile() async throws {
    let calls = FaultyCalls(.synchronize, .once(after: 0, .error(SystemError(number: 5))))
    let (_, writer) = try RunFolder.make(in: try scratch.state(calls.calls), durability: .power)
    calls.isArmed.store(true, ordering: .relaxed)
    let reported = Mutex(false)
    writer.onLost { reported.withLock { $0 = true } }
    let safe = try writer.write(JournalWriterTests.end, elapsed: .zero, isUrgent: { true })
    await safe?.value
    #expect(reported.withLock { $0 })
    #expect(writer.fault?.message.contains("may be lost") == true)
    #expect(throws: RecordError.self) {
      _ = try writer.write(JournalWriterTests.end, elapsed: .zero, isUrgent: { true })
    }
    writer.close()
    #expect(calls.count(.synchronize) == 1)
  }

  @Test func aRecordThatSurvivesTheEngineIsSafeOnceItIsWritten() throws {
    let (_, writer) = try RunFolder.make(in: try scratch.state(), durability: .process)
    #expect(try writer.write(JournalWriterTests.end, elapsed: .zero, isUrgent: { true }) == nil)
    writer.close()
  }

  @Test("J10: the same when it is told late, within a second or at the end")
  func failedLateSynchronization() throws {
    let calls = FaultyCalls(.synchronize, .once(after: 0, .error(SystemError(number: 5))))
    let (writer, _, _) = try write(calls, durability: .process)
    #expect(writer.fault?.message.contains("may be lost") == true)
    #expect(calls.count(.synchronize) == 1)
  }

  @Test("J08: a part of a record that cannot be taken back is taken back before the next")
  func tornRecordThatStays() throws {
    let first = Mutex(true)
    let writes = Atomic(0)
    let isArmed = Atomic(false)
    let calls = FileCalls { call in
      guard isArmed.load(ordering: .relaxed) else { return nil }
      switch call {
      case .write:
        switch writes.add(1, ordering: .relaxed).newValue {
        case 1: return .short(10)
        case 2: return .error(.noSpace)
        default: return nil
        }
      case .truncate:
        let isFirst = first.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
        return isFirst ? .error(.noSpace) : nil
      default: return nil
      }
    }
    let (folder, writer) = try RunFolder.make(in: try scratch.state(calls), durability: .process)
    isArmed.store(true, ordering: .relaxed)
    for kind in JournalWriterTests.tail { try? writer.record(kind, elapsed: .zero) }
    writer.close()
    let kept = try kinds(in: folder)
    #expect(kept == JournalWriterTests.tail.filter { !$0.announcesAct })
  }

  @Test func lossIsReportedOnce() throws {
    let calls = FaultyCalls(.write, .every(.error(.noSpace)))
    let reported = Atomic(0)
    let (_, writer) = try RunFolder.make(in: try scratch.state(calls.calls), durability: .process)
    writer.onLost { reported.add(1, ordering: .relaxed) }
    #expect(reported.load(ordering: .relaxed) == 0)
    calls.isArmed.store(true, ordering: .relaxed)
    for kind in JournalWriterTests.tail { try? writer.record(kind, elapsed: .zero) }
    #expect(reported.load(ordering: .relaxed) == 1)
    writer.onLost { reported.add(10, ordering: .relaxed) }
    #expect(reported.load(ordering: .relaxed) == 11)
    writer.close()
  }

  @Test(arguments: RecordDurability.allCases)
  func recordsOfManyThreadsAreWholeAndInOrderOfTime(durability: RecordDurability) async throws {
    let (folder, writer) = try RunFolder.make(in: try scratch.state(), durability: durability)
    let clock = Ticks()
    await withTaskGroup { group in
      for thread in 0..<4 {
        group.addTask {
          for index in 0..<50 {
            try? writer.record(
              .event(.stepStarted(StepAddress("s\(thread).\(index)"), attempt: 1)),
              elapsed: .milliseconds(clock.next))
          }
        }
      }
    }
    writer.close()
    var times: [WallTime] = []
    let contents = try folder.contents { times.append($0.at) }
    #expect(contents.damage == nil)
    #expect(contents.run.inDoubt.count == 200)
    #expect(times.count == 201)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1.since($0) >= .zero })
  }
}

/// A clock that is later each time it is read.
private final class Ticks: Sendable {
  private let count = Atomic(0)

  var next: Int { count.add(1, ordering: .relaxed).newValue }
}

/// System calls of which some fail.
final class FaultyCalls: Sendable {
  enum WriteFault: Sendable {
    case never
    case once(after: Int, FileCalls.Answer)
    case every(FileCalls.Answer)
  }

  let isArmed = Atomic(false)
  private let counts = Mutex<[FileCalls.Call: Int]>([:])
  private let call: FileCalls.Call
  private let fault: WriteFault

  init(_ call: FileCalls.Call = .write, _ fault: WriteFault = .never) {
    self.call = call
    self.fault = fault
  }

  var calls: FileCalls { FileCalls { [self] call in answer(call) } }

  func count(_ call: FileCalls.Call) -> Int { counts.withLock { $0[call, default: 0] } }

  private func answer(_ call: FileCalls.Call) -> FileCalls.Answer? {
    guard isArmed.load(ordering: .relaxed) else { return nil }
    let earlier = counts.withLock { counts in
      defer { counts[call, default: 0] += 1 }
      return counts[call, default: 0]
    }
    guard call == self.call else { return nil }
    switch fault {
    case .never: return nil
    case .once(let after, let answer): return earlier == after ? answer : nil
    case .every(let answer): return answer
    }
  }
}
