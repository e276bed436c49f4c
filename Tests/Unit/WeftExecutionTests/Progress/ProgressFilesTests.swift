import TestSupport
import Testing
import WeftDefinition
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

/// Programs that tell their progress, with real files.
@Suite(.hangLimit) struct ProgressFilesTests {
  private func progress(of run: RealRun) -> [StepProgress] {
    run.events.compactMap {
      if case .stepProgress(_, let progress) = $0.kind { progress } else { nil }
    }
  }

  private func warnings(of run: RealRun) -> [RunWarning.Kind] { run.report.warnings.map(\.kind) }

  private func run(_ script: String) async throws -> RealRun {
    try await RealRun(Workflow(steps: [step("s", .script(script))]))
  }

  @Test func theLastLineIsToldBeforeTheEnd() async throws {
    let run = try await run("for i in 1 2 3; do echo \"$i/3 part $i\" >> \"$WEFT_PROGRESS\"; done")
    #expect(progress(of: run).last == StepProgress(3, of: 3, text: "part 3"))
    #expect(progress(of: run).count <= 2, "a burst is one event, or two if a look fell into it")
    let last = run.events.lastIndex { if case .stepProgress = $0.kind { true } else { false } }
    let end = run.events.firstIndex { if case .stepFinished = $0.kind { true } else { false } }
    #expect(try #require(last) < (try #require(end)))
    #expect(warnings(of: run).isEmpty)
  }

  @Test func aProgramIsFollowedWhileItRuns() async throws {
    // It continues when its progress has been seen.
    let gate = "\(FileSystem.temporaryDirectory)/weft-gate-\(UInt64.random(in: 0 ... .max))"
    defer { Descriptor.remove(gate) }
    let run = try await RealRun(
      Workflow(steps: [
        step(
          "s",
          .script(
            """
            echo '1/2 waiting' > "$WEFT_PROGRESS"
            until test -e \(gate); do sleep 0.02; done
            echo '2/2 done' > "$WEFT_PROGRESS"
            """))
      ])
    ) { event in
      guard case .stepProgress(_, let progress) = event.kind, progress.done == 1 else { return }
      _ = try? Descriptor.creating(gate, .onlyNew)
    }
    #expect(progress(of: run).map(\.done) == [1, 2])
    #expect(run.report.succeeded)
  }

  @Test(arguments: [
    "echo nonsense >> \"$WEFT_PROGRESS\"", "printf '5/0\\n-1/3\\n' > \"$WEFT_PROGRESS\"",
    "head -c 3000000 /dev/zero > \"$WEFT_PROGRESS\"", "mkdir \"$WEFT_PROGRESS\"",
    "ln -s /dev/zero \"$WEFT_PROGRESS\"", "mkfifo \"$WEFT_PROGRESS\"",
  ])
  func otherContentIsIgnoredWithOneWarning(script: String) async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .script(script)), step("b", .script(script))]))
    #expect(run.report.succeeded)
    #expect(progress(of: run).isEmpty)
    #expect(warnings(of: run) == [.progressIgnored])
  }

  @Test func aProgramThatTellsNothingCostsNoEvent() async throws {
    let run = try await run("test -n \"$WEFT_PROGRESS\" && test ! -e \"$WEFT_PROGRESS\"")
    #expect(run.report.succeeded && progress(of: run).isEmpty && warnings(of: run).isEmpty)
  }

  @Test func eachAttemptHasAFileOfItsOwn() async throws {
    let script = "test ! -e \"$WEFT_PROGRESS\" && echo 1/4 > \"$WEFT_PROGRESS\"; false"
    let retried = step("s", .script(script)).retry(
      RetryPolicy(max: 1, delay: .milliseconds(1), jitter: .none))
    let run = try await RealRun(Workflow(steps: [retried]))
    #expect(progress(of: run).map(\.done) == [1, 1])
  }
}
