public import WeftDefinition
import WeftDiagnostics
import WeftPlatform

extension Workflow {
  /// Reads a workflow file.
  ///
  /// Blocks until the file is read: at most 64 MiB; a FIFO must find a writer within 5 seconds.
  ///
  /// - Parameter path: Relative to the current directory; `-` is standard input.
  /// - Throws: Everything that is wrong with the file, also that it cannot be read. What concerns the
  ///   graph (names, cycles) is found when the workflow is planned.
  public init(contentsOf path: String) throws(WorkflowRejected) {
    let bytes: [UInt8]
    do { bytes = try FileReading.bytes(of: path) } catch {
      let message = "\"\(path)\" \(error.message)"
      throw WorkflowRejected(
        diagnostics: [Diagnostic(.error, code: "W0000", message: message, place: nil)])
    }
    try self.init(json: bytes, path: path)
  }

  /// Decodes the text of a workflow file.
  ///
  /// - Parameters:
  ///   - json: UTF-8.
  ///   - path: What messages call it.
  /// - Throws: Everything that is wrong with the text.
  public init(json: [UInt8], path: String = "<json>") throws(WorkflowRejected) {
    let (workflow, diagnostics) = WorkflowDecoder.decode(SourceFile(path: path, bytes: json))
    guard let workflow, !diagnostics.contains(where: \.isError) else {
      throw WorkflowRejected(diagnostics: diagnostics)
    }
    self = workflow
  }

  /// As ``init(json:path:)`` for a string.
  public init(json: String, path: String = "<json>") throws(WorkflowRejected) {
    try self.init(json: Array(json.utf8), path: path)
  }
}
