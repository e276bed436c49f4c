import Testing
import WeftDiagnostics
import WeftJSON
import WeftTestKit

@testable import WeftReporting

struct DiagnosticFormTests {
  private let all = [DiagnosticCollection(DiagnosticSample.diagnostics)]
  private let few = [DiagnosticCollection(DiagnosticSample.diagnostics, limit: 1)]

  private func value(_ bytes: [UInt8]) throws -> JSONValue {
    let (root, diagnostics) = JSONReader.read(SourceFile(path: "output", bytes: bytes))
    #expect(diagnostics.isEmpty)
    return JSONValue(try #require(root))
  }

  // MARK: JSON

  @Test func theJSONFormHasEverything() {
    let bytes = DiagnosticJSON().rendered(all)
    #expect(Golden("../Golden/diagnostics/all.json").mismatch(with: bytes) == nil)
  }

  @Test("W22: the JSON form counts what it does not show")
  func theJSONFormCountsWhatItDoesNotShow() throws {
    let value = try value(DiagnosticJSON().rendered(few + all))
    #expect(value["errors"] == 4 && value["warnings"] == 2 && value["notShown"] == 3)
    #expect(value["diagnostics"]?[4] != nil && value["diagnostics"]?[5] == nil)
  }

  @Test func formsWithoutDiagnosticsAreComplete() throws {
    #expect(try value(DiagnosticJSON().rendered([]))["diagnostics"] == [])
    let run = try value(DiagnosticSARIF(version: "1.0.0").rendered([]))["runs"]?[0]
    #expect(run?["results"] == [] && run?["tool"]?["driver"]?["rules"] == [])
    #expect(DiagnosticGitHub().rendered([]) == "")
  }

  // MARK: SARIF

  @Test func theSARIFFormHasEverything() {
    let bytes = DiagnosticSARIF(version: "1.2.3").rendered(all)
    #expect(Golden("../Golden/diagnostics/all.sarif").mismatch(with: bytes) == nil)
  }

  @Test func everySARIFResultNamesItsRule() throws {
    let log = try value(DiagnosticSARIF(version: "1.2.3").rendered(all))
    let run = try #require(log["runs"]?[0])
    #expect(log["version"] == "2.1.0")
    #expect(run["columnKind"] == "unicodeCodePoints")
    guard case .array(let results)? = run["results"] else { throw Missing() }
    #expect(results.count == 4)
    for result in results {
      guard case .number(let index)? = result["ruleIndex"], let place = index.asInt else {
        throw Missing()
      }
      #expect(run["tool"]?["driver"]?["rules"]?[place]?["id"] == result["ruleId"])
    }
  }

  private struct Missing: Error {}

  @Test func theSARIFFormCountsWhatItDoesNotShow() throws {
    let log = try value(DiagnosticSARIF(version: "1.2.3").rendered(few))
    #expect(log["runs"]?[0]?["properties"]?["notShown"] == 3)
  }

  @Test(arguments: [
    ("a.json", "a.json"), ("work flows/ä.json", "work%20flows/%C3%A4.json"),
    ("/tmp/a b", "file:///tmp/a%20b"), ("a:b", "a%3Ab"), ("<stdin>", "%3Cstdin%3E"),
    ("100%?#[]", "100%25%3F%23%5B%5D"), ("../x~y", "../x~y"), ("\u{1}", "%01"),
  ])
  func pathsBecomeURIs(path: String, uri: String) {
    #expect(DiagnosticSARIF.uri(ofPath: path) == uri)
  }

  @Test(arguments: [
    ("plain", "plain"), (#"expected "}""#, #"expected "}}""#), ("{0}", "{{0}}"), ("a[0]", "a[0]"),
    (#"[a](b) \n"#, #"\[a\](b) \\n"#), (#"\n"#, #"\n"#),
  ])
  func noMessageIsMistakenForMore(text: String, escaped: String) {
    #expect(DiagnosticSARIF.escaped(text) == escaped)
  }

  // MARK: GitHub

  @Test func theGitHubFormIsOneCommandALine() {
    let text = DiagnosticGitHub().rendered(all)
    #expect(Golden("../Golden/diagnostics/all.github").mismatch(with: text) == nil)
  }

  @Test("W22: the GitHub form counts what it does not show")
  func theGitHubFormCountsWhatItDoesNotShow() {
    #expect(DiagnosticGitHub().rendered(few).hasSuffix("\n::notice::… and 3 more\n"))
  }

  @Test func aForeignNameCannotBecomeACommand() {
    let diagnostic = Diagnostic(
      .error, code: "W0001", message: "x\r\n::set-output name=a::b", place: nil)
    let text = DiagnosticGitHub().rendered([DiagnosticCollection([diagnostic])])
    #expect(text == "::error title=W0001::x%0D%0A::set-output name=a::b\n")
  }
}
