import Synchronization
import TestSupport
import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Steps that run actions: their inputs, outputs and ends.
@Suite(.hangLimit) struct ActionRunTests {
  private enum Trouble: Error { case diskFull }

  private static let echo = Action("echo") { context in .object(context.parameters) }

  // MARK: Values

  @Test func actionReceivesValuesAndOutputsItsResult() async throws {
    let run = try ActionHarness(
      """
      {"steps": [
        {"id": "a", "use": "echo",
         "with": {"n": "${{ fromJSON('[2]') }}", "list": [1, {"x": null}], "text": "at ${{ run.id }}",
                  "plain": "x"}},
        {"id": "b", "use": "echo", "with": {"whole": "${{ steps.a.json }}"},
         "outputs": {"list": "${{ self.json.whole.list }}", "all": "${{ steps.a }}"}}]}
      """, Self.echo)
    let outputs = shown(try await run.end(of: "b").outputs)
    #expect(outputs["list"] == #"[1,{"x":null}]"#)
    let whole = try #require(outputs["all"])
    #expect(
      whole.contains(#""json":{"n":[2],"list":[1,{"x":null}],"text":"at run-1","plain":"x"}"#),
      "\(whole)")
    #expect(whole.hasPrefix(#"{"outcome":"success","conclusion":"success","json":"#))
  }

  @Test func actionKnowsItsStepAndAttempt() async throws {
    let seen = Mutex<[String]>([])
    let action = Action("note") { context in
      seen.withLock { $0.append("\(context.run) \(context.step) \(context.attempt)") }
      return .null
    }
    let run = try ActionHarness(
      #"{"steps": [{"id": "a", "forEach": {"in": ["x"], "key": "item"}, "use": "note"}]}"#, action)
    #expect(await run.ended().succeeded)
    #expect(seen.withLock { $0 } == ["run-1 a[x] 1"])
  }

  @Test func anOutputThatDoesNotFitFailsTheStep() async throws {
    let run = try ActionHarness(
      """
      {"steps": [{"id": "a", "use": "echo", "with": {"n": "two"},
        "outputs": {"n": {"value": "${{ self.json.n }}", "type": "integer"}}}]}
      """, Self.echo)
    let end = try await run.end(of: "a")
    #expect(end.failure?.classes == [.output])
    #expect(end.outputs.isEmpty)
  }

  @Test func aStepWhoseValuesCannotBeHadDoesNotStart() async throws {
    let run = try ActionHarness(
      #"{"steps": [{"id": "a", "use": "echo", "with": {"n": "${{ fromJSON(run.id) }}"}}]}"#,
      Self.echo)
    #expect(try await run.end(of: "a").failure?.classes == [.expression])
  }

  @Test func actionOutputIsLoggedByLines() async throws {
    let action = Action("talk") { context in
      context.log("one")
      await withTaskGroup { group in
        for _ in 0..<10 { group.addTask { context.log("of many") } }
      }
      context.log("two\nthree")
      return .null
    }
    let run = try ActionHarness(#"{"steps": [{"id": "a", "use": "talk"}]}"#, action)
    let end = try await run.end(of: "a")
    let many = String(repeating: "of many\n", count: 10)
    #expect(run.log(of: "a") == "one\n\(many)two\nthree\n")
    #expect(end.outputBytes == 4 + 80 + 10)
    #expect(end.exit == nil && end.usage == nil)
  }

  @Test(
    "S05: secrets are given as they are, and masked where an action writes, returns or throws them")
  func secretsAreMasked() async throws {
    let action = Action("leak") { context in
      guard case .string(let secret)? = context["key"] else { throw Trouble.diskFull }
      context.log("the key is \(secret), or \(context["made"]?.description ?? "")")
      if context["fails"] != nil { throw Leak(text: secret) }
      return .object(["key": .string("k:\(secret)")])
    }
    let run = try ActionHarness(
      """
      {"secrets": {"KEY": {"env": "KEY"}}, "onFailure": "continue", "parallel": [
        {"id": "a", "use": "leak",
         "with": {"key": "${{ secrets.KEY }}", "made": "${{ split(secrets.KEY, '-') }}"},
         "outputs": {"key": "${{ self.json.key }}"}},
        {"id": "b", "use": "leak", "with": {"key": "${{ secrets.KEY }}", "fails": true}}]}
      """, action, secrets: ["KEY": try Secret(Array("s3cr3t-canary".utf8))])
    #expect(shown(try await run.end(of: "a").outputs) == ["key": "-"])
    #expect(run.log(of: "a") == "the key is ***, or [\"***\",\"***\"]\n")
    #expect(try await run.end(of: "b").failure?.message == "threw an error: leaked ***")
  }

  private struct Leak: Error, CustomStringConvertible {
    let text: String
    var description: String { "leaked \(text)" }
  }

  // MARK: Failures

  @Test(
    "G11: an action that throws fails its step with the class action and the error's description")
  func anErrorIsAFailure() async throws {
    let action = Action("fail") { _ in throw Trouble.diskFull }
    let run = try ActionHarness(
      #"{"steps": [{"id": "a", "use": "fail"}, {"id": "b", "use": "fail"}]}"#, action)
    let end = try await run.end(of: "a")
    #expect(end.failure == StepFailure(classes: [.action], message: "threw an error: diskFull"))
    #expect(await run.ended().end?.counts.skipped == 1)
  }

  @Test(arguments: [true, false])
  func aValueThatIsTooLargeFailsTheStep(fits: Bool) async throws {
    // The length includes the quotes and brackets.
    let length = WorkflowLimits.valueBytes - 4 + (fits ? 0 : 1)
    let action = Action("large") { _ in [.string(String(repeating: "x", count: length))] }
    let run = try ActionHarness(#"{"steps": [{"id": "a", "use": "large", "retry": 2}]}"#, action)
    let end = try await run.end(of: "a")
    #expect(end.outcome == (fits ? .success : .failure))
    guard !fits else { return }
    #expect(end.failure == .returnedTooMuch && end.attempts == 1)
    #expect(end.failure?.message.contains("more than 1MiB") == true)
  }

  @Test func everyByteOfAReturnedValueCounts() {
    let value: JSONValue = ["a": [1, true, nil, "é"], "b": ["c": false], "d": []]
    let size = "\(value)".utf8.count
    for (limit, fits) in [(size, true), (size - 1, false), (3, false)] {
      guard case .returned = ReturnedValue.judged(value, limitBytes: limit) else {
        #expect(!fits)
        continue
      }
      #expect(fits)
    }
  }

  @Test("G11: a very long description of an error is cut")
  func aLongErrorIsCut() {
    let failure = StepFailure.thrown(Leak(text: String(repeating: "é", count: 5000)))
    #expect(failure.message.unicodeScalars.count == "threw an error: ".count + 1000 + 1)
    #expect(failure.message.hasSuffix("é…"))
  }

  @Test("G11: a failure of an action can be tolerated, and is tried again by default")
  func failuresAreToleratedAndTriedAgain() async throws {
    let action = Action("fail") { context in
      if context.attempt == 3 { return .number(3) }
      throw Trouble.diskFull
    }
    let run = try ActionHarness(
      """
      {"steps": [
        {"id": "a", "use": "fail", "allowFailure": ["action"]},
        {"id": "b", "use": "fail", "retry": {"max": 2, "delay": "1s", "jitter": "none"},
         "outputs": {"n": "${{ self.json }}"}}]}
      """, action)
    for await event in run.subscription {
      guard case .stepRetrying(_, let retry) = event.kind else { continue }
      // The event precedes the pause.
      while run.time.scheduledCount == 0 { await Task.yield() }
      run.time.advance(by: retry.delay)
    }
    #expect(try await run.end(of: "a").conclusion == .success)
    let end = try await run.end(of: "b")
    #expect(end.attempts == 3)
    #expect(shown(end.outputs) == ["n": "3"])
  }

  @Test func aPlanThatNamesAnActionOfAnotherEngineFailsAtThatStep() async throws {
    let run = try ActionHarness(
      #"{"steps": [{"id": "a", "use": "echo"}]}"#, Self.echo, registering: [])
    let end = try await run.end(of: "a")
    #expect(end.failure?.classes == [.spawn])
    #expect(end.failure?.message == "did not start: the action \"echo\" is not registered")
  }

  // MARK: Ends from outside

  @Test(
    "G11: an action that never ends is told as timed out after limit and grace, and what it does later is ignored"
  )
  func anActionThatNeverEndsIsLeftBehind() async throws {
    let (started, cancelled, ended) = (Moment(), Moment(), Moment())
    let gate = Wakeup()
    let action = Action("stuck") { context in
      started.comes()
      gate.wait()
      if Task.isCancelled { cancelled.comes() }
      context.log("late")
      ended.comes()
      return .string("late")
    }
    let run = try ActionHarness(
      """
      {"onFailure": "continue", "pools": {"one": 1}, "parallel": [
        {"id": "a", "use": "stuck", "timeout": "5s", "pool": "one"},
        {"id": "b", "run": "b", "pool": "one"}]}
      """, action)
    await started.hasCome()
    run.time.advance(by: .seconds(14))
    #expect(run.commands.runningSteps == [])
    run.time.advance(by: .seconds(1))
    // The pool is free, although the action still occupies its thread.
    #expect(run.commands.runningSteps == ["b"])
    gate.wake()
    await ended.hasCome()
    await cancelled.hasCome()
    run.commands.exit("b")
    let end = try await run.end(of: "a")
    #expect(end.failure?.classes == [.timeout])
    #expect(end.duration == .seconds(15))
    #expect(run.log(of: "a") == "")
    #expect(await run.warnings() == [.actionLeftBehind])
    #expect(run.time.scheduledCount == 0)
  }

  @Test func anActionThatObeysItsLimitTakesNoGrace() async throws {
    let started = Moment()
    let action = Action("wait") { _ in
      started.comes()
      try await Task.sleep(for: .seconds(100_000))
      return .null
    }
    let run = try ActionHarness(
      #"{"steps": [{"id": "a", "use": "wait", "timeout": "5s"}]}"#, action)
    await started.hasCome()
    run.time.advance(by: .seconds(5))
    let end = try await run.end(of: "a")
    #expect(end.failure?.classes == [.timeout])
    #expect(end.duration == .seconds(5))
    #expect(await run.warnings() == [])
  }

  @Test func cancellingTheRunCancelsItsActions() async throws {
    let started = Moment()
    let action = Action("wait") { context in
      started.comes()
      do { try await Task.sleep(for: .seconds(100_000)) } catch { context.log("so be it") }
      return .string("done all the same")
    }
    let run = try ActionHarness(#"{"steps": [{"id": "a", "use": "wait"}]}"#, action)
    await started.hasCome()
    run.run.cancel(.requested)
    let end = try await run.end(of: "a")
    #expect(end.outcome == .cancelled && end.cancellation == .requested)
    #expect(run.log(of: "a") == "so be it\n")
  }

  @Test func killingTheRunLeavesItsActionsBehindAtOnce() async throws {
    let started = Moment()
    let gate = Wakeup()
    let action = Action("stuck") { _ in
      started.comes()
      gate.wait()
      return .null
    }
    let run = try ActionHarness(#"{"steps": [{"id": "a", "use": "stuck"}]}"#, action)
    await started.hasCome()
    run.run.cancel(.requested)
    #expect(run.run.report.end == nil)
    run.run.killNow()
    #expect(run.run.report.end?.outcome == .cancelled)
    gate.wake()
  }

  @Test func theLoserOfARaceIsCancelled() async throws {
    let started = Moment()
    let slow = Action("slow") { _ in
      started.comes()
      try await Task.sleep(for: .seconds(100_000))
      return .null
    }
    let quick = Action("quick") { _ in
      await started.hasCome()
      return .string("quick")
    }
    let run = try ActionHarness(
      #"{"steps": [{"race": [{"id": "s", "use": "slow"}, {"id": "q", "use": "quick"}]}]}"#, slow,
      quick)
    #expect(await run.ended().succeeded)
    #expect(try await run.end(of: "s").outcome == .cancelled)
  }

  @Test func anActionMayCancelItsOwnRun() async throws {
    let holder = Mutex<RunEngine?>(nil)
    let ready = Moment()
    let action = Action("stop") { _ in
      await ready.hasCome()
      holder.withLock { $0 }?.cancel(.requested)
      try Task.checkCancellation()
      return .null
    }
    let run = try ActionHarness(
      #"{"steps": [{"id": "a", "use": "stop"}], "finally": [{"id": "f", "use": "note"}]}"#, action,
      Action("note") { _ in .null })
    holder.withLock { $0 = run.run }
    ready.comes()
    #expect(try await run.end(of: "a").outcome == .cancelled)
    #expect(try await run.end(of: "f").outcome == .success)
    holder.withLock { $0 = nil }
  }
}
