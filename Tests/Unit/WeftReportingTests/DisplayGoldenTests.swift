import Testing
import WeftPlanning
import WeftTestKit

@testable import WeftReporting

@Suite struct DisplayGoldenTests {
  @Test("O10, O11: plain output of whole runs", arguments: SampleRuns.all.map(\.name))
  func aPipeGetsWholePrefixedLines(name: String) throws {
    let run = try #require(SampleRuns.all.first { $0.name == name }?.run)
    let collected = Collected.of(
      run, DisplaySettings(mode: .plain), labels: try DisplayGoldenTests.labels(for: name))
    expectGolden("\(name)/plain.stdout", collected.bytes)
  }

  @Test(
    "O10: annotations of GitHub Actions, and no others",
    arguments: ["failure", "hostile", "warned", "attempts", "elements", "race"])
  func gitHubGetsAnAnnotationForAFailureAndAWarning(name: String) throws {
    let run = try #require(SampleRuns.all.first { $0.name == name }?.run)
    let settings = DisplaySettings(mode: .plain, annotatesForGitHub: true)
    let collected = Collected.of(
      run, settings, labels: try DisplayGoldenTests.labels(for: name))
    expectGolden("\(name)/github.stdout", collected.bytes)
  }

  @Test("O09: plain output on a terminal is harmless", arguments: ["hostile"])
  func aTerminalThatCannotDrawGetsHarmlessLines(name: String) throws {
    let run = try #require(SampleRuns.all.first { $0.name == name }?.run)
    let settings = DisplaySettings(mode: .plain, isTerminal: true, usesUnicode: false)
    expectGolden("\(name)/dumb.stdout", Collected.of(run, settings).bytes)
  }

  @Test("O09: what stands on a terminal after whole runs", arguments: SampleRuns.all.map(\.name))
  func aTerminalShowsTheResultInTheEnd(name: String) throws {
    let run = try #require(SampleRuns.all.first { $0.name == name }?.run)
    let settings = DisplaySettings(
      mode: .live, isTerminal: true, usesColour: true, run: DisplayGoldenTests.run)
    let collected = Collected.of(
      run, settings, labels: try DisplayGoldenTests.labels(for: name))
    var screen = Screen(columns: 80, rows: 12)
    for bytes in collected.writes { screen.feed(bytes) }
    expectGolden("\(name)/live.screen", Array(screen.text.utf8))
    #expect(screen.surprises == [])
    #expect(screen.cursor.column == 0)
  }

  private static let run = RunReference(
    id: "20261120-233005-4f2a9c", arguments: "20261120-233005-4f2a9c")

  private static func labels(for name: String) throws -> StepLabels {
    guard let workflow = ControlRuns.workflows[name] else { return labels }
    return StepLabels(try #require(Planner.plan(workflow).plan))
  }

  private static let labels = StepLabels(titles: [
    StepAddress("2"): "swift build", StepAddress("bye"): "Say good-bye, für alle",
  ])

  private func expectGolden(_ name: String, _ bytes: [UInt8]) {
    let mismatch = Golden("Golden/displays/\(name)").mismatch(with: bytes)
    #expect(mismatch == nil)
  }
}
