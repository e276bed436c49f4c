import WeftDiagnostics

@testable import WeftJSON

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

func file(_ text: String) -> SourceFile { SourceFile(path: "test.json", bytes: Array(text.utf8)) }

func file(_ bytes: [UInt8]) -> SourceFile { SourceFile(path: "test.json", bytes: bytes) }

/// The root of a text that has to be right.
func root(of text: String) throws -> JSONNode {
  let (root, diagnostics) = JSONReader.read(file(text), beside: nil)
  guard let root, diagnostics.isEmpty else { throw NotJSON(diagnostics: diagnostics) }
  return root
}

struct NotJSON: Error { var diagnostics: [Diagnostic] }

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers for the same seed, everywhere.
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The folder of texts written by others, JSONTestSuite by Nicolas Seriot.
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
