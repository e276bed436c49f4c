public import WeftDefinition
import WeftDiagnostics
import WeftLoading
import WeftPlatform

extension Workflow {
  /// Reads a workflow file, and the files that its `workflow` steps name.
  ///
  /// Blocks until they are read: at most 64 MiB, and 16 MiB for all other files together; a FIFO must find
  /// a writer within 5 seconds.
  ///
  /// - Parameters:
  ///   - path: Relative to the current directory; `-` is standard input.
  ///   - startDirectory: What the other files must lie in, or below; nothing outside is opened. As
  ///     ``Engine/Options/startDirectory`` of the run, `nil` is the current directory.
  /// - Throws: Everything that is wrong with the files, also that one cannot be read. What concerns the
  ///   graph (names, cycles) is found when the workflow is planned.
  public init(
    contentsOf path: String, startDirectory: String? = nil
  ) throws(WorkflowRejected) {
    let loaded: (Workflow?, [Diagnostic])
    do { loaded = try WorkflowLoader.load(path, startDirectory: startDirectory) } catch {
      let message = "\"\(path)\" \(error.message)"
      throw WorkflowRejected(
        diagnostics: [Diagnostic(.error, code: "W0000", message: message, place: nil)])
    }
    try self.init(understood: loaded)
  }

  /// Decodes the text of a workflow file, and reads nothing else.
  ///
  /// Other files that it names stay unread: ``NestedWorkflow/workflow`` is `nil`, to be filled in by whoever
  /// has them, and a workflow is not planned before. ``init(contentsOf:)`` reads them.
  ///
  /// - Parameters:
  ///   - json: UTF-8.
  ///   - path: What messages call it.
  /// - Throws: Everything that is wrong with the text.
  public init(json: [UInt8], path: String = "<json>") throws(WorkflowRejected) {
    try self.init(
      understood: WorkflowDecoder.decode(SourceFile(path: path, bytes: json)))
  }

  /// As ``init(json:path:)`` for a string.
  public init(json: String, path: String = "<json>") throws(WorkflowRejected) {
    try self.init(json: Array(json.utf8), path: path)
  }

  private init(
    understood: (workflow: Workflow?, diagnostics: [Diagnostic])
  ) throws(WorkflowRejected) {
    guard let workflow = understood.workflow, !understood.diagnostics.contains(where: \.isError)
    else { throw WorkflowRejected(diagnostics: understood.diagnostics) }
    self = workflow
  }
}
