public import WeftDefinition
public import WeftDiagnostics
import WeftExecution
public import WeftPlanning
package import WeftPlatform

/// A workflow as far as it was understood, with its plan and everything that is wrong with it.
public struct CheckedWorkflow: Sendable {
  /// The decoded part, even of a rejected file; `nil` if there is none.
  public let workflow: Workflow?
  /// The plan; `nil` if the workflow is rejected.
  public let plan: Plan?
  /// The errors, warnings and notes of the workflow and of all files that it names, sorted by location.
  ///
  /// `diagnostics.rendered(as: .text)` is the output of `weft check`; see ``DiagnosticFormat`` for others.
  public let diagnostics: [Diagnostic]

  /// The workflow, for ``Engine/start(_:inputs:)`` and the like.
  ///
  /// - Throws: All diagnostics of a rejected workflow.
  public var acceptedWorkflow: Workflow {
    get throws(WorkflowError) {
      guard let workflow, plan != nil else { throw WorkflowError(diagnostics: diagnostics) }
      return workflow
    }
  }

  /// Adds the problems of the env files that its steps have. They do not reject the workflow: a run reads the files
  /// again.
  ///
  /// - Parameter startDirectory: `nil` for the current directory.
  package func withEnvironmentFiles(startDirectory: String? = nil) -> CheckedWorkflow {
    guard let plan else { return self }
    let problems = EnvironmentFileReader(for: plan, startDirectory: startDirectory).problems(
      in: plan)
    return problems.isEmpty
      ? self : CheckedWorkflow(workflow, plan, (diagnostics + problems).sortedByLocation())
  }

  /// Its plan with a runner that takes the place of the workflow's own, as for `weft run --runner`; with a problem if it
  /// has no such runner.
  package func choosing(runner name: String) -> CheckedWorkflow {
    guard var plan else { return self }
    let problem = plan.choose(runner: name)
    return CheckedWorkflow(workflow, plan, [problem].compactMap(\.self) + diagnostics)
  }

  /// Adds the reasons why runners would not run its commands. Blocks while they are asked.
  ///
  /// - Parameter startDirectory: `nil` for the current directory.
  package func probingRunners(startDirectory: String? = nil) -> CheckedWorkflow {
    guard let plan else { return self }
    let problems = RunnerProbe(of: plan, startDirectory: startDirectory).problems()
    return CheckedWorkflow(workflow, plan, diagnostics + problems)
  }

  private init(_ workflow: Workflow?, _ plan: Plan?, _ diagnostics: [Diagnostic]) {
    (self.workflow, self.plan, self.diagnostics) = (workflow, plan, diagnostics)
  }

  /// Reads a file and the files that it names, like ``WeftDefinition/Workflow/init(contentsOf:startDirectory:)``.
  ///
  /// - Parameters:
  ///   - actions: The actions that steps may run; `nil` for any.
  ///   - runners: Runners that steps may name besides those that their files declare.
  /// - Throws: The reason why the file cannot be read. Problems with other files are diagnostics.
  package init(
    contentsOf path: String, startDirectory: String? = nil, actions: Set<ActionName>? = [],
    runners: [Runner] = []
  ) throws(FileReadError) {
    self.init(
      try WorkflowLoader.load(path, startDirectory: startDirectory), actions: actions,
      runners: runners)
  }

  /// Decodes a file that was read, and reads the files that it names.
  ///
  /// - Parameters:
  ///   - path: `nil` for a file without a path, which names others relative to the start directory.
  ///   - startDirectory: `nil` for the current directory.
  ///   - openTexts: Texts that replace those of files, by their absolute paths.
  ///   - runners: Runners that steps may name besides those that their files declare.
  package init(
    _ source: SourceFile, at path: String?, startDirectory: String? = nil,
    actions: Set<ActionName>? = [], openTexts: [String: [UInt8]] = [:], runners: [Runner] = []
  ) {
    self.init(
      WorkflowLoader.load(
        source, at: path, startDirectory: startDirectory, openTexts: openTexts),
      actions: actions, runners: runners)
  }

  fileprivate init(
    _ loaded: (workflow: Workflow?, diagnostics: [Diagnostic]), actions: Set<ActionName>? = [],
    runners: [Runner] = []
  ) {
    workflow = loaded.workflow?.adding(runners)
    guard let workflow else {
      (plan, diagnostics) = (nil, loaded.diagnostics)
      return
    }
    let (plan, structure) = Planner.plan(
      workflow, actions: actions, afterErrors: loaded.diagnostics.contains(where: \.isError))
    diagnostics = (loaded.diagnostics + structure).sortedByLocation()
    self.plan = diagnostics.contains(where: \.isError) ? nil : plan
  }
}

extension Diagnostic {
  /// The error of a file that cannot be read.
  static func unreadable(_ path: String, _ error: FileReadError) -> Diagnostic {
    Diagnostic(.error, code: "W0000", message: "\"\(path)\" \(error.message)", place: nil)
  }
}

extension Engine {
  /// Checks a workflow file, and the files that its `workflow` steps name, without starting anything.
  ///
  /// Unlike ``plan(_:)`` it also has the warnings of an accepted workflow, and what was understood of a rejected one. A
  /// file that cannot be read has one diagnostic that says so.
  ///
  /// - Parameter path: Relative to the current directory; `-` is standard input.
  public func check(contentsOf path: String) -> CheckedWorkflow {
    do {
      return try CheckedWorkflow(
        contentsOf: path, startDirectory: options.startDirectory, actions: actions.names
      ).withEnvironmentFiles(startDirectory: options.startDirectory)
    } catch {
      return CheckedWorkflow((nil, [.unreadable(path, error)]))
    }
  }

  /// Checks the text of a workflow file, and the files that it names, which are relative to
  /// ``Options/startDirectory``.
  ///
  /// - Parameters:
  ///   - json: The text, in UTF-8.
  ///   - name: The name of the text in messages.
  public func check(json: [UInt8], named name: String = "<json>") -> CheckedWorkflow {
    CheckedWorkflow(
      SourceFile(path: name, bytes: json), at: nil, startDirectory: options.startDirectory,
      actions: actions.names
    ).withEnvironmentFiles(startDirectory: options.startDirectory)
  }

  /// Checks a workflow built in Swift, or read before.
  public func check(_ workflow: Workflow) -> CheckedWorkflow {
    CheckedWorkflow((workflow, []), actions: actions.names)
      .withEnvironmentFiles(startDirectory: options.startDirectory)
  }
}
