import WeftDiagnostics

/// Every problem with the shape and the values of a workflow file. The code, message and help of
/// each case are in ``wording``.
enum Problem: Hashable {
  // The whole file
  case notAWorkflow(found: String)
  case nothingToRun
  case emptyGroup(path: String)
  case groupTooDeep(path: String)
  case tooManySteps(limit: Int)
  case tooManyProblems(limit: Int)
  // Keys
  case unknownKey(String, of: KeyOwner, nearest: String?)
  case stepKeyOfWorkflow(String)
  case workflowKeyOfStep(String)
  // Actions
  case noAction
  case pipeKeyBesideTerminal(String)
  case severalActions(String, String)
  // Values
  case wrongType(path: String, found: String, wanted: String, help: String?)
  case empty(path: String, wanted: String)
  case invalidDuration(path: String, text: String, fault: DurationText.Fault, allowsZero: Bool)
  case durationWithoutUnit(path: String, number: String)
  case invalidSize(path: String, text: String, fault: SizeText.Fault)
  case sizeWithoutUnit(path: String, number: String)
  case invalidID(String, fault: StepID.Fault)
  case numberOutOfRange(path: String, number: String, wanted: ClosedRange<Int>)
  case unknownWord(path: String, word: String, wanted: String, nearest: String?, help: String?)
  case invalidVariableName(String)
  case nul(path: String)
  // Secrets
  case invalidSecretName(String, fault: StepID.Fault?)
  case equalNames(String, first: String)
  case repeatedName(String, in: String)
  case severalSources(String, String)
  case sharedDescriptor(Int32)
  case timeoutOfSecret
  case expression(path: String)
  // Declarations
  case schema(SchemaProblem)
  case control(ControlProblem)
  case http(HTTPProblem)
  case caching(CachingProblem)

  /// Notes are only reported; every other problem rejects the file.
  var severity: Diagnostic.Severity {
    if case .emptyGroup = self { .note } else { .error }
  }

  struct Wording {
    var code: DefinitionCode
    var message: String
    var help: String?

    init(_ code: DefinitionCode, _ message: String, help: String? = nil) {
      self.code = code
      self.message = message
      self.help = help
    }
  }
}
