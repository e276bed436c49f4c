import Weft
package import WeftDefinition
package import WeftDiagnostics
import WeftPlanning
package import WeftPlatform

/// A test file that was read, with its workflow.
package struct LoadedTestFile: Sendable {
  package let path: String
  package let diagnostics: [Diagnostic]
  private let parts: (file: TestFile, plan: Plan, addresses: PlanAddresses, cases: [PreparedCase])?

  /// Whether nothing is wrong with it, so that its cases can be run.
  package var isRunnable: Bool { parts != nil }

  /// Reads a test file and its workflow, and checks that they fit.
  ///
  /// - Throws: The reason why the test file itself cannot be read.
  package init(contentsOf path: String, runners: [Runner] = []) throws(FileReadError) {
    self.init(
      SourceFile(path: path, bytes: try FileReading.bytes(of: path)), at: path, runners: runners)
  }

  /// - Parameters:
  ///   - startDirectory: That of runs of the workflow; `nil` for the current directory.
  ///   - openTexts: Texts that replace those of files, by their absolute paths.
  ///   - runners: Runners that steps may name besides those that their files declare.
  package init(
    _ source: SourceFile, at path: String, startDirectory: String? = nil,
    openTexts: [String: [UInt8]] = [:], runners: [Runner] = []
  ) {
    self.init(source, at: path) { file, workflow in
      LoadedTestFile.plan(workflow, of: file, at: path, startDirectory, openTexts, runners)
    }
  }

  /// - Parameter plan: The plan of its workflow, which is not read.
  init(_ source: SourceFile, at path: String, of plan: Plan) {
    self.init(source, at: path) { _, _ in (plan, []) }
  }

  private init(
    _ source: SourceFile, at path: String,
    _ plan: (TestFile, Placed<String>) -> (plan: Plan?, faults: [Diagnostic])
  ) {
    self.path = path
    let (file, problems) = TestFileDecoder.decode(source)
    guard let file, let workflow = file.workflow, !problems.contains(where: \.isError) else {
      (diagnostics, parts) = (problems, nil)
      return
    }
    let (plan, faults) = plan(file, workflow)
    guard let plan else {
      (diagnostics, parts) = (problems + faults, nil)
      return
    }
    let addresses = PlanAddresses(plan)
    var found = CaseChecker.problems(of: file, with: plan)
    var cases: [PreparedCase] = []
    for testCase in file.cases {
      switch PreparedCase.prepare(testCase, of: file, plan, addresses) {
      case .success(let prepared): cases.append(prepared)
      case .failure(let unfit): found += unfit.diagnostics
      }
    }
    diagnostics = problems + found.sortedByLocation()
    parts = found.isEmpty ? (file, plan, addresses, cases) : nil
  }

  /// Reads the workflow; its warnings are for `weft check`.
  private static func plan(
    _ workflow: Placed<String>, of file: TestFile, at path: String, _ startDirectory: String?,
    _ openTexts: [String: [UInt8]], _ runners: [Runner]
  ) -> (plan: Plan?, faults: [Diagnostic]) {
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    let target = workflow.value.hasPrefix("/") ? workflow.value : folder + workflow.value
    do throws(FileReadError) {
      let open = openTexts[target]
      let text = if let open { open } else { try FileReading.bytes(of: target) }
      let checked = CheckedWorkflow(
        SourceFile(path: target, bytes: text), at: target, startDirectory: startDirectory,
        actions: nil, openTexts: openTexts, runners: runners)
      let errors = checked.diagnostics.filter(\.isError)
      return (errors.isEmpty ? checked.plan : nil, errors)
    } catch {
      return (
        nil,
        [
          Diagnostic(
            .error, code: CaseCode.noWorkflow,
            message: "the workflow \(quoted(target)) \(error.message)",
            place: file.place(workflow.range),
            help: "the path is relative to the folder of the test file")
        ]
      )
    }
  }

  /// The names of the cases, in file order.
  package var caseNames: [String] { parts?.file.cases.map(\.name.value) ?? [] }

  /// The record of the first case in its first order.
  var firstRecord: CaseRecord? {
    parts?.cases.first.map { prepared in
      var run = CaseRun(prepared, seed: 0, point: 1, stop: StopSwitch())
      return run.record()
    }
  }

  /// The record of the first case in its first order, and its differences from what the case expects.
  var firstResult: (record: CaseRecord, mismatches: [Diagnostic])? {
    guard let parts, let first = parts.cases.first, let record = firstRecord else { return nil }
    return (
      record,
      CaseJudge.mismatches(
        of: record, with: first.testCase, in: parts.file, parts.plan, parts.addresses)
    )
  }

  /// Runs all cases in file order.
  ///
  /// - Parameters:
  ///   - seed: The only completion order to try, as a failure names it; `nil` for those that each case asks for.
  ///   - stop: Ends the current case as signals end `weft run`; no other follows.
  ///   - now: A clock for the real time that each case takes.
  package func run(
    seed: UInt64? = nil, stop: StopSwitch = StopSwitch(),
    now: () -> Duration = { MonotonicClock.now }
  ) -> TestFileResult {
    guard let parts else { return TestFileResult(path: path, cases: [], coverage: nil) }
    var coverage = Coverage(of: parts.plan)
    var results: [CaseResult] = []
    for prepared in parts.cases where stop.level == .none {
      let start = now()
      var result = CaseResult(name: prepared.testCase.name.value)
      let first = seed ?? 0
      let count = seed == nil ? UInt64(prepared.testCase.orders) : 1
      for order in first..<(first + count) where result.passed {
        result.orders += 1
        for point in 1... {
          var run = CaseRun(prepared, seed: order, point: point, stop: stop)
          let record = run.record()
          coverage.add(record)
          // A case with interruptions at each record ends where there are no more records.
          if point > 1, record.isPastEnd || record.missed.contains(where: \.interruption.isSweep) {
            break
          }
          result.points += 1
          result.virtualTime = record.duration
          result.mismatches = CaseJudge.mismatches(
            of: record, with: prepared.testCase, in: parts.file, parts.plan, parts.addresses)
          guard result.passed else {
            result.failingSeed = order
            result.failingPoint = prepared.testCase.isSweep ? point : nil
            break
          }
          guard prepared.testCase.isSweep, stop.level == .none else { break }
        }
      }
      result.realTime = now() - start
      results.append(result)
    }
    return TestFileResult(path: path, cases: results, coverage: coverage)
  }
}

/// The result of one case.
package struct CaseResult: Sendable {
  package let name: String
  /// The number of completion orders tried.
  package internal(set) var orders = 0
  /// The number of runs: more than one for each order if the case is interrupted at each record.
  package internal(set) var points = 0
  package internal(set) var mismatches: [Diagnostic] = []
  /// The completion order that failed.
  package internal(set) var failingSeed: UInt64?
  /// The record at which the failing run was interrupted, if the case is interrupted at each.
  package internal(set) var failingPoint: Int?
  package internal(set) var virtualTime = Duration.zero
  package internal(set) var realTime = Duration.zero

  package var passed: Bool { mismatches.isEmpty }
}

/// The results of the cases of a file.
package struct TestFileResult: Sendable {
  package let path: String
  package let cases: [CaseResult]
  /// `nil` if the file was rejected.
  package let coverage: Coverage?

  package var passed: Bool { cases.allSatisfy(\.passed) }
}
