import Testing

@testable import WeftCLI

/// The program contains the files of `schemas/`.
struct SchemaTests {
  private static let root =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  @Test(arguments: SchemaName.allCases)
  func theProgramPrintsTheFileByteForByte(schema: SchemaName) throws {
    let file = try #require(Files.read(SchemaTests.path(of: schema)))
    let printed = Weft.run("schema", schema.rawValue, in: Directory())
    #expect(printed.output == String(decoding: file, as: UTF8.self))
    #expect(printed.errors == "")
    #expect(printed.status == 0)
  }

  @Test func schemaDefaultsToTheWorkflowSchema() {
    let directory = Directory()
    #expect(
      Weft.run("schema", in: directory) == Weft.run("schema", "workflow", in: directory))
  }

  private static func path(of schema: SchemaName) -> String {
    "\(root)/schemas/\(schema.rawValue).schema.json"
  }
}
