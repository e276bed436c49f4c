import Testing
import WeftEvents
import WeftPlanning

@testable import WeftReporting

@Suite struct OutputPolicyTests {
  private typealias Policy = OutputPolicy
  private static let companies: [OutputPolicy.Company] = [
    .others, .noneFromTheStart, .none(for: .milliseconds(999)), .none(for: .seconds(1)),
  ]

  @Test(
    "which lines are shown as they arrive: among others, alone, alone for a moment, alone for longer",
    arguments: [
      (.stream, .screen, [true, true, true, true]), (.stream, .lines, [true, true, true, true]),
      (.stream, .foldedLines, [true, true, true, true]),
      (.auto, .screen, [false, true, false, true]), (.auto, .lines, [true, true, true, true]),
      (.auto, .foldedLines, [false, true, false, false]),
      (.group, .screen, [false, false, false, false]),
      (.group, .foldedLines, [false, false, false, false]),
      (.failed, .lines, [false, false, false, false]),
      (.none, .lines, [false, false, false, false]),
    ] as [(OutputMode, OutputPolicy.Device, [Bool])])
  func linesAreShownAsTheyArrive(mode: OutputMode, device: OutputPolicy.Device, shown: [Bool]) {
    let policy = OutputPolicy(mode: mode, device: device)
    #expect(OutputPolicyTests.companies.map(policy.streams) == shown)
  }

  @Test(
    "only a screen names the step that runs alone",
    arguments: [
      (.screen, [true, false, false, false]), (.lines, [true, true, true, true]),
      (.foldedLines, [true, true, true, true]),
    ] as [(OutputPolicy.Device, [Bool])])
  func linesHaveAPrefix(device: OutputPolicy.Device, prefixed: [Bool]) {
    let policy = OutputPolicy(mode: .stream, device: device)
    #expect(OutputPolicyTests.companies.map(policy.prefixes) == prefixed)
  }

  private static let moments: [OutputPolicy.Moment] = [
    .end(.success), .end(.failure), .end(.cancelled), .retry, .cached,
  ]

  @Test(
    "the form of the rest: of a success, a failure, a cancelled step, a failed attempt, a cached step",
    arguments: [
      (.stream, .screen, [.lines, .lines, .lines, .lines, .lines]),
      (.auto, .lines, [.lines, .lines, .lines, .lines, .lines]),
      (.auto, .screen, [.excerpt, .excerpt, .excerpt, .excerpt, .excerpt]),
      (.auto, .foldedLines, [.folded, .folded, .folded, .folded, .folded]),
      (.group, .lines, [.excerpt, .excerpt, .excerpt, .excerpt, .excerpt]),
      (.group, .foldedLines, [.excerpt, .excerpt, .excerpt, .excerpt, .excerpt]),
      (.failed, .screen, [.nothing, .excerpt, .nothing, .nothing, .nothing]),
      (.failed, .foldedLines, [.nothing, .excerpt, .nothing, .nothing, .nothing]),
      (.none, .screen, [.nothing, .nothing, .nothing, .nothing, .nothing]),
    ] as [(OutputMode, OutputPolicy.Device, [OutputPolicy.Form])])
  func restIsShownAtTheEnd(
    mode: OutputMode, device: OutputPolicy.Device, forms: [OutputPolicy.Form]
  ) {
    let policy = OutputPolicy(mode: mode, device: device)
    #expect(OutputPolicyTests.moments.map { policy.form(at: $0, isStreaming: false) } == forms)
  }

  @Test func stepThatStreamsEndsWithItsLines() {
    let policy = OutputPolicy(mode: .auto, device: .screen)
    for moment in OutputPolicyTests.moments {
      #expect(policy.form(at: moment, isStreaming: true) == .lines)
    }
  }

  @Test("a step is alone from its start, or since the last other one ended")
  func solitudeIsTracked() {
    let (a, b) = (StepAddress("a"), StepAddress("b"))
    var solitude = Solitude()
    #expect(solitude.company(of: a, at: .zero) == .noneFromTheStart, "nothing runs")
    solitude.update(count: 1, started: a, first: a, at: .seconds(1))
    #expect(solitude.company(of: a, at: .seconds(5)) == .noneFromTheStart)
    #expect(solitude.company(of: b, at: .seconds(5)) == .others, "it does not run")
    solitude.update(count: 1, started: nil, first: a, at: .seconds(6))
    #expect(solitude.company(of: a, at: .seconds(6)) == .noneFromTheStart, "output changes nothing")
    solitude.update(count: 2, started: b, first: a, at: .seconds(7))
    #expect(solitude.step == nil)
    #expect(solitude.company(of: a, at: .seconds(7)) == .others)
    solitude.update(count: 1, started: nil, first: b, at: .seconds(8))
    #expect(solitude.company(of: b, at: .seconds(10)) == .none(for: .seconds(2)))
    solitude.update(count: 0, started: nil, first: nil, at: .seconds(11))
    solitude.update(count: 1, started: b, first: b, at: .seconds(12))
    #expect(solitude.company(of: b, at: .seconds(12)) == .noneFromTheStart, "another attempt")
  }
}
