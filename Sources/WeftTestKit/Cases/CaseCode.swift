/// The codes of problems of test files with their workflow, and of cases that do not hold; stable across releases. The
/// problems of their shape have the codes of workflow files.
enum CaseCode {
  /// A test file, or its workflow, cannot be read.
  static let noWorkflow = "W0709"
  /// No step has the address, or matches the pattern.
  static let noSuchStep = "W0701"
  /// A step cannot have the scripted result.
  static let unfitResult = "W0702"
  /// Inputs, secrets or the environment do not fit the workflow.
  static let unfitSurroundings = "W0703"
  /// An expectation that no run can meet.
  static let impossible = "W0704"
  /// An expectation that was not met.
  static let notMet = "W0705"
  /// A step without a scripted result.
  static let unscripted = "W0706"
  /// The run of the case has no end.
  static let noEnd = "W0707"
  /// A script or an expectation of an element that the loop did not have.
  static let unused = "W0708"
}
