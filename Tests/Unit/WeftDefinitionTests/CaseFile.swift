import Testing
import WeftDefinition
import WeftDiagnostics

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A workflow file of the table that drives the tests of both the decoder and the schema.
struct CaseFile: Sendable, CustomTestStringConvertible {
  enum Folder: String {
    case accepted, rejected
    /// Rejected for a reason that JSON Schema cannot express.
    case rejectedBeyondSchema = "rejected-beyond-schema"
  }

  let folder: Folder
  /// The file name without `.json`.
  let name: String

  var testDescription: String { name }

  func decoded() -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    WorkflowDecoder.decode(SourceFile(path: name + ".json", bytes: bytes))
  }

  private var bytes: [UInt8] {
    guard let file = fopen("\(CaseFile.path(of: folder))/\(name).json", "rb") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
      bytes += chunk[..<count]
    }
    return bytes
  }

  static func all(in folder: Folder) -> [CaseFile] {
    guard let directory = opendir(path(of: folder)) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasSuffix(".json") { names.append(String(name.dropLast(".json".count))) }
    }
    return names.sorted().map { CaseFile(folder: folder, name: $0) }
  }

  private static func path(of folder: Folder, besides file: StaticString = #filePath) -> String {
    let source = file.description
    return (source.lastIndex(of: "/").map { source[..<$0] } ?? ".") + "/Cases/" + folder.rawValue
  }
}
