public import WeftDiagnostics
import WeftJSON

/// Turns the text of a workflow file into a ``Workflow``.
///
/// The module in the order it happens: the text is read as JSON; ``DecodingPass`` walks over it once
/// and builds the parts of a workflow, telling each ``Problem`` it meets; what is handed on is well
/// formed, but not yet known to be sound: see the planner.
public enum WorkflowDecoder {
  /// Decodes a file, and finds everything that is wrong with it short of its graph.
  ///
  /// - Returns: What was understood, and all problems, those of the JSON text too, by place. If
  ///   there is an error among them the workflow must not be run; it is returned for the planner,
  ///   which may then tell the problems of the graph as well, and none that only follow from the
  ///   ones told here. It is `nil` where too much is missing for that.
  public static func decode(
    _ file: SourceFile
  ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    decode(file, limits: DecodingPass.Limits())
  }

  /// As ``decode(_:)``, for who then reads the files that this one names.
  package static func decoded(_ file: SourceFile) -> DecodedFile {
    decoded(file, limits: DecodingPass.Limits())
  }

  static func decode(
    _ file: SourceFile, limits: DecodingPass.Limits
  ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    let decoded = decoded(file, limits: limits)
    return (decoded.workflow, decoded.diagnostics)
  }

  private static func decoded(_ file: SourceFile, limits: DecodingPass.Limits) -> DecodedFile {
    let (root, textDiagnostics) = JSONReader.read(file)
    guard let root else { return DecodedFile(diagnostics: textDiagnostics.map(sayingWhatIsWanted)) }
    var decoded = DecodingPass.run(on: root, limits: limits)
    decoded.diagnostics = (textDiagnostics + decoded.diagnostics).sortedByPlace()
    return decoded
  }

  /// The reader knows that a file is empty, but not what should be in it.
  private static func sayingWhatIsWanted(_ diagnostic: Diagnostic) -> Diagnostic {
    guard diagnostic.code == "W0001" else { return diagnostic }
    var diagnostic = diagnostic
    diagnostic.help = Problem.smallestWorkflow
    return diagnostic
  }
}

/// What a file says, and all that is wrong with it short of its graph.
package struct DecodedFile: Sendable {
  /// `nil` where too much is missing.
  package var workflow: Workflow?
  /// By place.
  package var diagnostics: [Diagnostic]
  /// Whether any step of it is another file, anywhere: who knows that there is none need not look.
  package var namesOtherFiles = false
}
