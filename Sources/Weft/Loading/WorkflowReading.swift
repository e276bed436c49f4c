public import WeftDefinition
public import WeftDiagnostics
import WeftPlanning
import WeftPlatform
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
      throw WorkflowError(diagnostics: [.unreadable(path, error)])
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
