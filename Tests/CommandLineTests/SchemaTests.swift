import Testing

@testable import WeftCLI

/// The program contains the files of `schemas/`; `UPDATE_GOLDEN=1` rewrites its source from them.
struct SchemaTests {
  private static let root =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  @Test(arguments: SchemaName.allCases)
  func theProgramPrintsTheFileByteForByte(schema: SchemaName) throws {
    SchemaTests.recordIfAsked()
    let file = try #require(Files.read(SchemaTests.path(of: schema)))
    let printed = Weft.run("schema", schema.rawValue, in: Directory())
    #expect(printed.output == String(decoding: file, as: UTF8.self), "record: UPDATE_GOLDEN=1")
    #expect(printed.errors == "")
    #expect(printed.status == 0)
  }

  @Test func withoutAWordItIsTheSchemaOfWorkflows() {
    let directory = Directory()
    #expect(
      Weft.run("schema", in: directory) == Weft.run("schema", "workflow", in: directory))
  }

  private static func path(of schema: SchemaName) -> String {
    "\(root)/schemas/\(schema.rawValue).schema.json"
  }

  private static func recordIfAsked() {
    guard Weft.isRecording else { return }
    var source = """
      // Made from schemas/*.json: UPDATE_GOLDEN=1 swift test --filter SchemaTests
      // swift-format-ignore-file

      extension SchemaName {
        /// The file, byte for byte.
        var text: String {
          switch self {

      """
    for schema in SchemaName.allCases {
      let text = String(decoding: Files.read(path(of: schema)) ?? [], as: UTF8.self)
      source += "    case .\(schema.rawValue):\n      ##\"\"\"\n" + text + "\n\"\"\"##\n"
    }
    source += "    }\n  }\n}\n"
    Files.write(root + "/Sources/WeftCLI/Schemas.swift", Array(source.utf8))
  }
}
