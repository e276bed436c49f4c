import WeftDiagnostics

@testable import WeftJSON

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

func file(_ text: String) -> SourceFile { SourceFile(path: "test.json", bytes: Array(text.utf8)) }

func file(_ bytes: [UInt8]) -> SourceFile { SourceFile(path: "test.json", bytes: bytes) }

/// The root of a text that must be valid.
func root(of text: String) throws -> JSONNode {
  let (root, diagnostics) = JSONReader.read(file(text), beside: nil)
  guard let root, diagnostics.isEmpty else { throw NotJSON(diagnostics: diagnostics) }
  return root
}

struct NotJSON: Error { var diagnostics: [Diagnostic] }

/// The folder of an external suite, JSONTestSuite by Nicolas Seriot.
enum Suite {
  static let folder: String? = getenv("WEFT_SUITES").map { String(cString: $0) + "/json-parsing" }

  static func names(_ prefix: String) -> [String] {
    guard let folder, let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasPrefix(prefix), name.hasSuffix(".json") { names.append(name) }
    }
    return names.sorted()
  }

  static func file(_ name: String) throws -> SourceFile {
    let path = "\(folder ?? "")/\(name)"
    guard let stream = fopen(path, "rb") else { throw NotReadable(path: path) }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 {
      bytes += buffer[..<count]
    }
    return SourceFile(path: name, bytes: bytes)
  }

  struct NotReadable: Error { var path: String }
}
