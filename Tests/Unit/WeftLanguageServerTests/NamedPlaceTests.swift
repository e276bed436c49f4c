import Testing
import Weft
import WeftJSON

@testable import WeftLanguageServer

/// Every place where a file names something that it declares, outside of expressions.
@Suite struct NamedPlaceTests {
  /// A file with each of these places; the declared names are `A1` for steps, `P1` for pools and `R1` for runners.
  private static let text = """
    { "pools": { "P1": 2, "P2": 1 }, "runner": "R1",
      "runners": { "R1": { "kind": "ssh", "hosts": ["h"] } },
      "steps": [
        { "id": "A1", "run": "true", "pool": "P1", "runner": "R1" },
        { "id": "b", "run": "cat", "needs": ["A1"], "stdin": { "log": "A1" }, "pool": { "P1": 1 } },
        { "id": "c", "steps": [ { "run": "cat", "stdin": { "log": "A1" } } ], "runner": "R1",
          "cleanup": { "run": "cat", "stdin": { "log": "A1" }, "pool": { "P2": 1, "P1": 1 } } },
        { "id": "d", "run": "sleep 9", "service": { "ready": { "log": "A1" } } },
        { "id": "e", "run": "echo ${{ steps.A1.stdout }}" }
      ],
      "finally": [ { "run": "cat", "stdin": { "log": "A1" } } ] }
    """

  /// The text that is no name of a step, although a key `log` has it.
  private static let sign = #""ready": { "log": "A1" }"#

  struct Place: CustomStringConvertible, Sendable {
    let kind: WorkflowOutline.Kind
    let name: String
    let offset: Int
    var description: String { "\(name) at \(offset)" }
  }

  /// The places of all declared names but the declarations.
  static let places: [Place] = {
    var found: [Place] = []
    for (kind, name) in [(WorkflowOutline.Kind.step, "A1"), (.pool, "P1"), (.runner, "R1")] {
      let all = text.ranges(of: name).map {
        text.utf8.distance(from: text.startIndex, to: $0.lowerBound)
      }
      let declared = declaration(of: kind, name)
      found += all.filter { $0 != declared && $0 != signOffset }
        .map { Place(kind: kind, name: name, offset: $0) }
    }
    return found
  }()

  private static var signOffset: Int {
    let sign = text.ranges(of: sign)[0].upperBound
    return text.utf8.distance(from: text.startIndex, to: sign) - 5
  }

  private static func declaration(of kind: WorkflowOutline.Kind, _ name: String) -> Int {
    let before = kind == .step ? #""id": ""# : kind == .pool ? #""pools": { ""# : #""runners": { ""#
    return text.utf8.distance(
      from: text.startIndex, to: text.ranges(of: before + name)[0].upperBound) - name.utf8.count
  }

  private func opened(_ text: String = text) -> WorkflowText {
    let item: JSONValue = ["uri": "file:///p/weft.json", "text": .string(text)]
    var opened = WorkflowText(OpenDocument(item, .utf8)!)
    _ = opened.checked(
      by: { source, _, _ in CheckedDocument(CheckedWorkflow(source, at: nil, startDirectory: "/"))
      },
      [:])
    return opened
  }

  @Test func theFileIsAccepted() { #expect(opened().plan != nil) }

  /// A key of the format that names something is in the file above.
  @Test func everyKeyThatNamesSomethingIsTried() {
    let kinds = SchemaGuide.workflow.namingKeys.kinds
    #expect(
      Set(kinds.map { "\($0.key.key): \($0.value)" }) == [
        "needs: step", "log: step", "pool: pool", "runner: runner",
      ])
    #expect(kinds[NamingKeys.Place([.key("service"), .key("ready"), .key("log")])] == nil)
  }

  @Test(arguments: places)
  func aNameIsFound(_ place: Place) throws {
    let opened = opened()
    let name = try #require(opened.name(at: place.offset + 1))
    #expect(name.name == place.name && name.kind == place.kind)
    let start = opened.document.range(0..<0)["start"]
    let definition = opened.definition(at: place.offset + 1)["range"]?["start"]
    #expect(definition != nil && definition != start)
    let declared = NamedPlaceTests.declaration(of: place.kind, place.name)
    #expect(definition == opened.document.range(declared..<declared)["start"])
    #expect(opened.hover(at: place.offset + 1)["contents"] != nil)
    let references = opened.references(at: place.offset + 1, withDeclaration: false)
    #expect(references.list?.count == NamedPlaceTests.places.count { $0.name == place.name })
  }

  @Test(arguments: places)
  func aRenamedNameIsRenamedEverywhere(_ place: Place) throws {
    let opened = opened()
    let edits = try opened.rename(at: place.offset + 1, to: "new")
    var document = opened.document
    document.apply(
      (edits["changes"]?[document.uri]?.list ?? []).reversed()
        .map { ["range": $0["range"]!, "text": $0["newText"]!] }, version: .null)
    let text = String(decoding: document.source.bytes, as: UTF8.self)
    #expect(
      text.replacing(NamedPlaceTests.sign, with: "").ranges(of: place.name).isEmpty, "\(text)")
    #expect(text.contains(NamedPlaceTests.sign))
    #expect(self.opened(text).plan != nil, "\(text)")
  }

  @Test(
    arguments: places.filter { !text.utf8.dropFirst($0.offset - 6).starts(with: "steps.".utf8) })
  func declaredNamesAreProposed(_ place: Place) throws {
    let labels = opened().completions(at: place.offset).list?.compactMap { $0["label"]?.text } ?? []
    #expect(labels.contains(place.name), "\(labels)")
    #expect(!labels.contains("timeout"), "\(labels)")
  }

  @Test func aSignOfAServiceIsNoName() {
    #expect(opened().name(at: NamedPlaceTests.signOffset + 1) == nil)
  }
}
