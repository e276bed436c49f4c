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

  static func decode(
    _ file: SourceFile, limits: DecodingPass.Limits
  ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    let (root, textDiagnostics) = JSONReader.read(file)
    guard let root else { return (nil, textDiagnostics.map(sayingWhatIsWanted)) }
    let (workflow, diagnostics) = DecodingPass.run(on: root, limits: limits)
    return (workflow, (textDiagnostics + diagnostics).sortedByPlace())
  }

  /// The reader knows that a file is empty, but not what should be in it.
  private static func sayingWhatIsWanted(_ diagnostic: Diagnostic) -> Diagnostic {
    guard diagnostic.code == "W0001" else { return diagnostic }
    var diagnostic = diagnostic
    diagnostic.help = Problem.smallestWorkflow
    return diagnostic
  }
}
