public import WeftDefinition
public import WeftDiagnostics
package import WeftPlanning
package import WeftPlatform
import WeftReporting

extension Workflow {
  /// Reads a workflow file, and the files that its `workflow` steps name.
  ///
  /// Blocks until they are read: at most 64 MiB, and 16 MiB for all other files together; a FIFO must get
  /// a writer within 5 seconds.
  ///
  /// - Parameters:
  ///   - path: Relative to the current directory; `-` is standard input.
  ///   - startDirectory: The directory that contains all other files; nothing outside is opened. `nil` is the
  ///     current directory, as for ``Engine/Options/startDirectory``.
  /// - Throws: All errors of the files, including one that cannot be read. Errors of the graph (names, cycles)
  ///   are found when the workflow is planned.
  public init(
    contentsOf path: String, startDirectory: String? = nil
  ) throws(WorkflowError) {
    let loaded: (Workflow?, [Diagnostic])
    do { loaded = try WorkflowLoader.load(path, startDirectory: startDirectory) } catch {
      let message = "\"\(path)\" \(error.message)"
      throw WorkflowError(
        diagnostics: [Diagnostic(.error, code: "W0000", message: message, place: nil)])
    }
    try self.init(understood: loaded)
  }

  /// Decodes the text of a workflow file without reading other files.
  ///
  /// Nested workflows stay unread: ``NestedWorkflow/workflow`` is `nil`, for the caller to fill in; a workflow
  /// cannot be planned before. ``init(contentsOf:)`` reads them.
  ///
  /// - Parameters:
  ///   - json: The text, in UTF-8.
  ///   - path: The name of the text in messages.
  /// - Throws: All errors of the text.
  public init(json: [UInt8], path: String = "<json>") throws(WorkflowError) {
    try self.init(
      understood: WorkflowDecoder.decode(SourceFile(path: path, bytes: json)))
  }

  /// Decodes a string like ``init(json:path:)``.
  public init(json: String, path: String = "<json>") throws(WorkflowError) {
    try self.init(json: Array(json.utf8), path: path)
  }

  private init(
    understood: (workflow: Workflow?, diagnostics: [Diagnostic])
  ) throws(WorkflowError) {
    guard let workflow = understood.workflow, !understood.diagnostics.contains(where: \.isError)
    else { throw WorkflowError(diagnostics: understood.diagnostics) }
    self = workflow
  }
}

/// A workflow file as far as it was understood, with its plan and everything that is wrong with it.
package struct CheckedWorkflow: Sendable {
  /// The decoded part, even of a rejected file; `nil` if there is none.
  package let workflow: Workflow?
  /// `nil` if the file is rejected.
  package let plan: Plan?
  /// The diagnostics of the file and of all files that it names.
  package let diagnostics: [Diagnostic]

  /// Reads a file and the files that it names, like ``WeftDefinition/Workflow/init(contentsOf:startDirectory:)``.
  ///
  /// - Parameter actions: The actions that steps may run; `nil` for any.
  /// - Throws: The reason why the file cannot be read. Problems with other files are diagnostics.
  package init(
    contentsOf path: String, actions: Set<ActionName>? = []
  ) throws(FileReadError) {
    self.init(try WorkflowLoader.load(path), actions: actions)
  }

  /// Decodes a file that was read, and reads the files that it names.
  ///
  /// - Parameters:
  ///   - path: `nil` for a file without a path, which names others relative to the start directory.
  ///   - startDirectory: `nil` for the current directory.
  package init(_ source: SourceFile, at path: String?, startDirectory: String? = nil) {
    self.init(WorkflowLoader.load(source, at: path, startDirectory: startDirectory))
  }

  private init(
    _ loaded: (workflow: Workflow?, diagnostics: [Diagnostic]), actions: Set<ActionName>? = []
  ) {
    workflow = loaded.workflow
    guard let workflow else {
      (plan, diagnostics) = (nil, loaded.diagnostics)
      return
    }
    let (plan, structure) = Planner.plan(workflow, actions: actions)
    diagnostics = (loaded.diagnostics + structure).sortedByLocation()
    self.plan = diagnostics.contains(where: \.isError) ? nil : plan
  }
}

/// A workflow that cannot be run, or not with the given inputs; nothing was started.
public struct WorkflowError: Error, Sendable, CustomStringConvertible {
  /// Errors, with the warnings and notes beside them, sorted by location.
  public let diagnostics: [Diagnostic]
  /// All errors of the given inputs; empty if the workflow itself is rejected.
  public let inputFaults: [InputFault]

  init(diagnostics: [Diagnostic]) {
    self.diagnostics = diagnostics
    inputFaults = []
  }

  init(_ inputs: InputsError) {
    diagnostics = inputs.diagnostics
    inputFaults = inputs.faults
  }

  /// The diagnostics as the command line shows them: each with its location, source line and help.
  public var description: String {
    DiagnosticText().rendered(DiagnosticCollection(diagnostics))
  }
}
