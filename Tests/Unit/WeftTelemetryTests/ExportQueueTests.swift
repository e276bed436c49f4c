import Testing
import WeftTestKit

@testable import WeftTelemetry

@Suite struct ExportQueueTests {
  private static let accepted = CollectorReply.accepted(rejected: 0, remark: nil)
  private static let busy = CollectorReply.tryLater(after: nil, reason: "it answered 503")

  private func queue(_ change: (inout ExportQueue.Limits) -> Void = { _ in }) -> ExportQueue {
    var limits = ExportQueue.Limits()
    (limits.queueBytes, limits.batchBytes) = (80, 10)
    change(&limits)
    return ExportQueue(limits, seed: 1)
  }

  private func span(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 4) }

  @Test func spansAreSentAfterAWhileOrWhenTheyAreMany() {
    var queue = queue()
    #expect(queue.next(at: .zero) == .wait(until: nil))
    queue.append(span(1), at: .seconds(5))
    #expect(queue.next(at: .seconds(5)) == .wait(until: .seconds(6)))
    queue.append(span(2), at: .milliseconds(5500))
    #expect(queue.next(at: .seconds(6)) == .send([span(1), span(2)]))
    queue.append(span(3), at: .seconds(6))
    queue.append(span(4), at: .seconds(6))
    queue.append(span(5), at: .seconds(6))
    #expect(queue.next(at: .seconds(6)) == .wait(until: nil), "one request at a time")
    queue.answered(Self.accepted, at: .seconds(6))
    #expect(queue.next(at: .seconds(6)) == .send([span(3), span(4)]), "a batch has a size")
    #expect(queue.losses.sent == 2)
  }

  @Test func aSpanThatIsTooLargeForABatchIsSentAlone() {
    var queue = queue()
    let large = [UInt8](repeating: 9, count: 50)
    queue.append(large, at: .zero)
    queue.append(span(1), at: .zero)
    #expect(queue.next(at: .zero) == .send([large]))
  }

  @Test func theSameSpansAreSentAgain() {
    var queue = queue()
    queue.append(span(1), at: .zero)
    var (delays, now): ([Duration], Duration) = ([], .seconds(1))
    for _ in 0..<8 {
      #expect(queue.next(at: now) == .send([span(1)]))
      queue.append(span(2), at: now)
      queue.answered(Self.busy, at: now)
      guard case .wait(let until?) = queue.next(at: now) else {
        Issue.record("it does not wait")
        return
      }
      delays.append(until - now)
      now = until
    }
    for (delay, whole) in zip(delays, [0.25, 0.5, 1, 2, 4, 8, 10, 10]) {
      #expect((.seconds(whole * 0.8)...(.seconds(whole * 1.2))).contains(delay), "\(delays)")
    }
    #expect(Set(delays.suffix(2)).count == 2, "delays have no jitter: \(delays)")
    #expect(queue.next(at: now) == .send([span(1)]))
    queue.answered(Self.accepted, at: now)
    #expect(queue.losses.sent == 1 && queue.losses.count == 0)
  }

  @Test func retryAfterIsHonoured() {
    var queue = queue()
    queue.append(span(1), at: .zero)
    _ = queue.next(at: .seconds(1))
    queue.answered(.tryLater(after: .seconds(30), reason: "it answered 429"), at: .seconds(1))
    #expect(queue.next(at: .seconds(2)) == .wait(until: .seconds(31)))
    #expect(queue.next(at: .seconds(31)) == .send([span(1)]))
  }

  @Test func whatIsRefusedIsLost() {
    var queue = queue()
    queue.append(span(1), at: .zero)
    _ = queue.next(at: .seconds(1))
    queue.answered(.refused(reason: "it answered 400"), at: .seconds(1))
    #expect(queue.losses.refused == 1 && queue.losses.reason == "it answered 400")
    queue.append(span(2), at: .seconds(1))
    queue.append(span(3), at: .seconds(1))
    _ = queue.next(at: .seconds(2))
    queue.answered(.accepted(rejected: 1, remark: "one is too old"), at: .seconds(2))
    #expect(queue.losses.refused == 2 && queue.losses.sent == 1)
    #expect(queue.losses.remark == "one is too old")
  }

  @Test func aCollectorCannotRejectMoreThanItWasSent() {
    var queue = queue()
    queue.append(span(1), at: .zero)
    _ = queue.next(at: .seconds(1))
    queue.answered(.accepted(rejected: 100, remark: nil), at: .seconds(1))
    #expect(queue.losses.refused == 1 && queue.losses.sent == 0)
  }

  @Test func theOldestAreDropped() {
    var queue = queue()
    for number in 0..<100 { queue.append(span(number), at: .zero) }
    let kept = 100 - queue.losses.dropped
    #expect(kept * 4 <= 80 && kept * 4 >= 60)
    #expect(queue.next(at: .zero) == .send([span(100 - kept), span(101 - kept)]))
  }

  @Test func afterTheLastSpanTheRestIsSentAtOnce() {
    var queue = queue()
    queue.append(span(1), at: .zero)
    queue.finish(at: .zero)
    #expect(queue.next(at: .zero) == .send([span(1)]))
    queue.answered(Self.accepted, at: .milliseconds(3))
    #expect(queue.next(at: .milliseconds(3)) == .end)
    #expect(queue.losses.count == 0)
  }

  @Test func aCollectorThatDoesNotAnswerCostsASecond() {
    var queue = queue()
    queue.append(span(1), at: .zero)
    queue.append(span(2), at: .zero)
    queue.append(span(3), at: .zero)
    queue.finish(at: .zero)
    #expect(queue.next(at: .zero) == .send([span(1), span(2)]))
    #expect(queue.next(at: .milliseconds(999)) == .wait(until: .seconds(1)))
    #expect(queue.next(at: .seconds(1)) == .end)
    #expect(queue.losses.late == 3 && queue.losses.reason == "it did not answer in time")
  }

  @Test func aRetryAfterTheDeadlineIsNotWaitedFor() {
    var queue = queue()
    queue.append(span(1), at: .zero)
    queue.finish(at: .zero)
    _ = queue.next(at: .zero)
    queue.answered(.tryLater(after: .seconds(5), reason: "it answered 429"), at: .zero)
    #expect(queue.next(at: .zero) == .end)
    #expect(queue.losses.late == 1 && queue.losses.reason == "it answered 429")
  }

  @Test func anEmptyTraceEndsAtOnce() {
    var queue = queue()
    queue.finish(at: .zero)
    #expect(queue.next(at: .zero) == .end)
  }

  /// Whatever a collector answers, and whenever: each span is sent, lost or waiting, once, in order.
  @Test(arguments: 0..<300 as Range<UInt64>)
  func everySpanIsAccountedFor(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var limits = ExportQueue.Limits()
    limits.queueBytes = 40 * Int.random(in: 1...10, using: &random)
    limits.batchBytes = 4 * Int.random(in: 1...10, using: &random)
    var queue = ExportQueue(limits, seed: seed)
    var (now, added, accepted): (Duration, Int, [UInt8]) = (.zero, 0, [])
    var flight: [[UInt8]]?
    var isOver = false
    for turn in 0..<10_000 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where added < 200:
        queue.append([UInt8(added), 0, 0, 0], at: now)
        added += 1
      case 1: now += .milliseconds(Int.random(in: 0...400, using: &random))
      case 2:
        guard let batch = flight else { break }
        flight = nil
        switch Int.random(in: 0..<4, using: &random) {
        case 0: queue.answered(Self.busy, at: now)
        case 1: queue.answered(.refused(reason: "no"), at: now)
        default:
          accepted += batch.map { $0[0] }
          queue.answered(Self.accepted, at: now)
        }
      default:
        if added == 200 {
          queue.finish(at: now)
          isOver = true
        }
        switch queue.next(at: now) {
        case .send(let batch):
          #expect(flight == nil)
          flight = batch
        case .wait(let until?):
          #expect(until > now)
          if flight == nil { now = until }
        case .wait(until: nil): break
        case .end:
          #expect(isOver)
          let losses = queue.losses
          #expect(losses.sent + losses.count == 200 && losses.sent == accepted.count)
          #expect(accepted == accepted.sorted())
          return
        }
      }
      #expect(turn < 9_999, "it does not end")
    }
  }
}
