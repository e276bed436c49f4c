import Testing
import WeftDiagnostics
import WeftReporting

@testable import WeftTestKit

/// Each file of `Files` is run, and its report compared with the recorded one.
@Suite struct TestFileTests {
  private static let folder = Golden("Files").path

  static let files = Golden.names(in: folder).filter { $0.hasSuffix(".test.json") }.sorted()

  @Test(arguments: files)
  func theReportIsAsRecorded(file: String) throws {
    let name = String(file.dropLast(".test.json".count))
    let loaded = try TestFileTests.load(file)
    let report: String
    if loaded.isRunnable {
      report = TestReport.text(of: loaded.run()) { TestFileTests.shown($0) }
    } else {
      report = TestFileTests.shown(loaded.diagnostics)
    }
    let mismatch = Golden("Files/\(name).txt").mismatch(
      with: report.replacing(TestFileTests.folder + "/", with: ""))
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }

  @Test func theFilesWhoseNameSaysSoFail() throws {
    for file in TestFileTests.files {
      let loaded = try TestFileTests.load(file)
      let isBad = ["failing", "racy", "rejected", "unscripted"].contains { file.hasPrefix($0) }
      #expect((loaded.isRunnable && loaded.run().passed) != isBad, "\(file)")
    }
  }

  @Test func aSeedRepeatsAFailureAlone() throws {
    let loaded = try TestFileTests.load("racy.test.json")
    let first = try #require(loaded.run().cases.first)
    let seed = try #require(first.failingSeed)
    let again = try #require(loaded.run(seed: seed).cases.first)
    #expect(again.orders == 1 && again.mismatches == first.mismatches)
    #expect(loaded.run(seed: 0).passed)
  }

  @Test func hoursOfBackoffTakeMilliseconds() throws {
    let loaded = try TestFileTests.load("timing.test.json")
    let clock = ContinuousClock()
    let taken = clock.measure { _ = loaded.run() }
    #expect(taken < .seconds(5))
  }

  @Test(arguments: ["json", "xml"])
  func theReportsForProgramsAreAsRecorded(format: String) throws {
    let names = ["interrupted", "racy", "rejected", "unscripted"]
    var report = TestReport([])
    for name in names {
      let loaded = try TestFileTests.load("\(name).test.json")
      let result = loaded.run { .zero }
      report = TestReport(
        report.files + (loaded.isRunnable ? [result] : []),
        rejected: report.rejected
          + (loaded.isRunnable
            ? [] : [.init(path: loaded.path, diagnostics: Array(loaded.diagnostics.prefix(2)))]))
    }
    let text = format == "json" ? report.json : report.junit
    let mismatch = Golden("Files/report.\(format == "json" ? "out" : "xml")").mismatch(
      with: text.replacing(TestFileTests.folder + "/", with: ""))
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }

  private static func load(_ name: String) throws -> LoadedTestFile {
    try LoadedTestFile(contentsOf: folder + "/" + name)
  }

  private static func shown(_ diagnostics: [Diagnostic]) -> String {
    DiagnosticText(usesColour: false).rendered(DiagnosticCollection(diagnostics, limit: 100))
  }
}
