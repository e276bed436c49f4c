import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftExpressions

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A case of actions/languageservices, expressions/testdata.
struct SuiteCase: CustomTestStringConvertible, Sendable {
  let name: String
  let text: String
  let contexts: [ExpressionObject.Member]
  let kind: String?
  let value: JSONValue?
  /// The message for an expression that has no value.
  let fault: String?
  let isFaultWhenRead: Bool
  /// Counted from 1; `nil` if the case has none, or where GitHub's implementations differ.
  let position: Int?

  var testDescription: String { "\(name): \(text.prefix(100))" }

  private init(_ name: String, _ json: JSONValue) {
    func string(_ value: JSONValue?) -> String? {
      guard case .string(let text) = value else { return nil }
      return text
    }
    self.name = name
    text = string(json["expr"]) ?? ""
    if case .object(let contexts) = json["contexts"] {
      self.contexts = contexts.map { .init(key: $0.key, value: ExpressionValue($0.value)) }
    } else {
      contexts = []
    }
    kind = string(json["result"]?["kind"])
    value = json["result"]?["value"]
    fault = string(json["err"]?["value"])
    isFaultWhenRead = ["lexing", "parsing"].contains(string(json["err"]?["kind"]))
    position = json["options"]?["skip"] == nil ? fault.flatMap(SuiteCase.position) : nil
  }

  private static func position(in fault: String) -> Int? {
    let words = fault.split(separator: " ")
    guard let index = words.firstIndex(of: "position") else { return nil }
    return Int(words[index + 1])
  }

  static let folder: String? = getenv("WEFT_SUITES").map {
    String(cString: $0) + "/github-expressions"
  }

  private static let files = [
    "basic", "case", "coerce_boolean", "coerce_number", "coerce_string", "contains", "endsWith",
    "format", "fromJSON", "join", "number", "op_and", "op_dot", "op_eq", "op_gt", "op_gte",
    "op_idx", "op_idx_star", "op_lt", "op_lte", "op_ne", "op_not", "op_or",
    "operators_case_insensitive", "operators_precedence", "startsWith", "syntax-errors", "tojson",
  ]

  static func all() throws -> [SuiteCase] {
    guard let folder else { return [] }
    return try files.flatMap { file in
      guard case .object(let groups) = try json(at: "\(folder)/\(file).json") else {
        return [SuiteCase]()
      }
      return groups.flatMap { group in
        guard case .array(let cases) = group.value else { return [SuiteCase]() }
        return cases.map { SuiteCase("\(file), \(group.key)", $0) }
      }
    }
  }

  private static func json(at path: String) throws -> JSONValue {
    let stream = try #require(fopen(path, "rb"), "\(path) cannot be read")
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 {
      bytes += buffer[..<count]
    }
    let (root, _) = JSONReader.read(SourceFile(path: path, bytes: bytes), beside: nil)
    return JSONValue(try #require(root, "\(path) is not JSON"))
  }
}
