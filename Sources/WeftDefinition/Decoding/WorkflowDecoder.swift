public import WeftDiagnostics
import WeftJSON

/// Decodes the text of a workflow file into a ``Workflow``.
///
/// The text is first read as JSON. ``DecodingPass`` then walks over it once, builds the parts of a
/// workflow and reports each problem it finds. The result is well formed, but not yet known to
/// be sound: see the planner.
public enum WorkflowDecoder {
  /// Decodes a file and finds all its problems except those of the graph.
  ///
  /// - Returns: The workflow, and all problems sorted by location, including those of the JSON text.
  ///   If there is an error among them, the workflow must not be run; it is returned for the
  ///   planner, which can then report problems of the graph too, without those that only follow from
  ///   the ones reported here. It is `nil` if too much is missing for that.
  public static func decode(
    _ file: SourceFile
  ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    decode(file, limits: DecodingPass.Limits())
  }

  /// Decodes like ``decode(_:)``, for callers that then read the files this one names.
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
    if let foreign = ForeignFormat.diagnostic(ofText: file, problems: textDiagnostics)
      ?? root.flatMap(ForeignFormat.diagnostic(ofKeys:))
      ?? root.flatMap({ TestFile.diagnostic(forWorkflow: $0, of: file) })
    {
      return DecodedFile(diagnostics: [foreign])
    }
    guard let root else {
      return DecodedFile(diagnostics: textDiagnostics.map(namingExpectedInput))
    }
    var decoded = DecodingPass.run(on: root, limits: limits)
    decoded.diagnostics = (textDiagnostics + decoded.diagnostics).sortedByLocation()
    return decoded
  }

  /// Adds help for an empty file: the reader does not know what it should contain.
  private static func namingExpectedInput(_ diagnostic: Diagnostic) -> Diagnostic {
    guard diagnostic.code == "W0001" else { return diagnostic }
    var diagnostic = diagnostic
    diagnostic.help = Diagnostic.smallestWorkflow
    return diagnostic
  }
}

/// A decoded file and all its problems except those of the graph.
package struct DecodedFile: Sendable {
  /// `nil` if too much is missing.
  package var workflow: Workflow?
  /// Sorted by location.
  package var diagnostics: [Diagnostic]
  /// Whether any step, at any depth, runs another file; if not, there is no need to search for them.
  package var namesOtherFiles = false
}

/// Codes of the problems with the shape and the values of a workflow file. Each is stable across
/// releases and can be used for lookup and filtering.
///
/// The reader owns the other W00xx (the JSON text), W0101 and W0102 (repeated keys); the planner owns W02xx
/// (the graph) and W0501 (an id needed twice).
public enum DefinitionCode: String, Sendable, Hashable, CaseIterable {
  case foreignFormat = "W0026"
  case unknownKey = "W0103"
  case wrongType = "W0104"
  case misplacedKey = "W0105"
  case noAction = "W0106"
  case severalActions = "W0107"
  case nothingToRun = "W0108"
  case groupTooDeep = "W0109"
  case tooManySteps = "W0110"
  case tooManyProblems = "W0111"
  case keyBesideTerminal = "W0112"
  case missingKey = "W0113"
  case tooManyElements = "W0114"
  case keysApart = "W0115"
  case unreadScript = "W0116"
  case expression = "W0301"
  case invalidDuration = "W0401"
  case invalidID = "W0402"
  case numberOutOfRange = "W0403"
  case empty = "W0404"
  case unknownWord = "W0405"
  case invalidVariableName = "W0406"
  case invalidSize = "W0407"
  case equalNames = "W0409"
  case emptyRange = "W0410"
  case pattern = "W0411"
  case unfitValue = "W0412"
  case repeatedValue = "W0413"
  case invalidMoment = "W0414"
  case invalidRate = "W0415"
  case absolutePath = "W0416"
  case nul = "W0417"
  case invalidHost = "W0418"
  case relativePath = "W0419"
  case unreadableSecret = "W0425"
  case emptyGroup = "W0502"
}
