import WeftDiagnostics
import WeftPlatform
import WeftReporting

/// The cases of a test file (`*.test.json`), for a test suite in Swift: as `weft test` runs them.
///
/// ```swift
/// @Test func theReleaseWorkflowHolds() throws {
///   let failures = try WorkflowTests(contentsOf: "workflows/release.test.json").failures()
///   #expect(failures == nil, "\(failures ?? "")")
/// }
/// ```
///
/// Actions that steps name with `use` need not be registered: they are scripted, like commands.
public struct WorkflowTests: Sendable {
  private let file: LoadedTestFile

  /// Reads a test file and its workflow, and checks that they fit.
  ///
  /// - Parameter path: Relative to the current directory; so are the files that the workflow names.
  public init(contentsOf path: String) throws(WorkflowTestsError) {
    do throws(FileReadError) { file = try LoadedTestFile(contentsOf: path) } catch {
      throw WorkflowTestsError(description: "\"\(path)\" \(error.message)")
    }
    guard file.isRunnable else {
      throw WorkflowTestsError(description: WorkflowTests.text(of: file.diagnostics))
    }
  }

  /// The names of the cases, in file order.
  public var caseNames: [String] { file.caseNames }

  /// Runs all cases, in virtual time.
  ///
  /// - Parameter seed: The only completion order to try, as a failure names it; `nil` for those that each case asks
  ///   for.
  /// - Returns: The report of `weft test` if a case has failed, else `nil`.
  public func failures(seed: UInt64? = nil) -> String? {
    let result = file.run(seed: seed)
    return result.passed ? nil : TestReport.text(of: result, showing: WorkflowTests.text)
  }

  private static func text(of diagnostics: [Diagnostic]) -> String {
    DiagnosticText(usesColour: false).rendered(DiagnosticCollection(diagnostics))
  }
}

/// A test file that cannot be read, or is rejected.
public struct WorkflowTestsError: Error, Sendable, CustomStringConvertible {
  /// All problems, each with its location.
  public let description: String
}
