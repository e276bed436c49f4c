import Testing
import WeftDefinition
import WeftDiagnostics
import WeftReporting
import WeftTestKit

/// Every file under `Cases`; `.ci/validate-schema.py` checks the same files against the schema.
@Suite struct WorkflowCaseTests {
  @Test func casesCoverEveryKind() {
    #expect(CaseFile.all(in: .accepted).count >= 90)
    #expect(CaseFile.all(in: .rejected).count >= 150)
    #expect(CaseFile.all(in: .rejectedBeyondSchema).count >= 20)
  }

  @Test(arguments: CaseFile.all(in: .accepted))
  func anAcceptedFileHasNoErrors(_ file: CaseFile) {
    let (workflow, diagnostics) = file.decoded()
    #expect(workflow != nil)
    let errors = diagnostics.filter(\.isError)
    #expect(errors.isEmpty, "\(text(errors))")
  }

  @Test(
    "W01 W02 W03 W05 W06 W09 W10 W11 W13 W16 W21 P11 P12 G13: a rejected file says why, where, and the cure",
    arguments: CaseFile.all(in: .rejected) + CaseFile.all(in: .rejectedBeyondSchema))
  func aRejectedFileSaysWhy(_ file: CaseFile) {
    let diagnostics = file.decoded().diagnostics
    #expect(!diagnostics.filter(\.isError).isEmpty)
    let golden = Golden("Cases/\(file.folder.rawValue)/\(file.name).txt")
    let mismatch = golden.mismatch(with: text(diagnostics))
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }

  private func text(_ diagnostics: [Diagnostic]) -> String {
    DiagnosticText().rendered(DiagnosticCollection(diagnostics))
  }
}
