import Testing
import WeftDiagnostics
import WeftReporting

@testable import WeftJSON

/// JSONTestSuite, read from the folder that `WEFT_SUITES` names.
@Suite(.enabled(if: Suite.folder != nil, "WEFT_SUITES names no folder with json-parsing in it"))
struct JSONSuiteTests {
  @Test(arguments: Suite.names("y_"))
  func validJSONIsAccepted(name: String) throws {
    let (root, diagnostics) = JSONReader.read(try Suite.file(name), beside: nil)
    #expect(root != nil)
    #expect(diagnostics.isEmpty)
  }

  @Test(arguments: Suite.names("y_"))
  func validJSONRoundTrips(name: String) throws {
    let value = JSONValue(try #require(JSONReader.read(try Suite.file(name), beside: nil).root))
    let again = JSONValue(try root(of: value.description))
    #expect(again == value)
  }

  @Test(arguments: Suite.names("n_"))
  func invalidJSONIsRejected(name: String) throws {
    let (_, diagnostics) = JSONReader.read(try Suite.file(name), beside: nil)
    #expect(diagnostics.contains { $0.isError })
  }

  @Test(arguments: Suite.names("i_"))
  func undefinedJSONIsReadOrReported(name: String) throws {
    let (root, diagnostics) = JSONReader.read(try Suite.file(name), beside: nil)
    #expect(root != nil || diagnostics.contains { $0.isError })
    #expect(!DiagnosticText().rendered(DiagnosticCollection(diagnostics)).contains("\u{0}"))
  }

  @Test func suiteCoversAllKinds() {
    #expect(Suite.names("y_").count >= 50)
    #expect(Suite.names("n_").count >= 100)
    #expect(Suite.names("i_").count >= 20)
  }
}
