import WeftDiagnostics
import WeftJSON
import WeftPlatform

/// An entry as a file: a line with the hash of the rest, and the rest as JSON. What is large stands for itself
/// elsewhere, and is named by its hash.
extension CacheEntry {
  /// Where the parts are that have files of their own, by their hashes.
  struct Elsewhere {
    /// The key's list of inputs.
    var inputs: String?
    var stdout: String?
    var stderr: String?
  }

  func bytes(_ elsewhere: Elsewhere) -> [UInt8] {
    var object: JSONObject = [
      "format": .int(CacheEntry.format), "step": .string(step), "run": .string(run),
      "storedAt": .int(storedAt), "milliseconds": .int(milliseconds),
      "key": .object(keyObject), "outputs": .array(outputs.map { .string($0) }),
      "files": .array(files.map(CacheEntry.json)),
      "written": .array(result.written.map { [.string($0.name), .string($0.json)] }),
    ]
    object["inputs"] = elsewhere.inputs.map { .string($0) }
    object["stdout"] = elsewhere.stdout.map { .string($0) }
    object["stderr"] = elsewhere.stderr.map { .string($0) }
    let text = Array(JSONValue.object(object).description.utf8)
    return Array((SHA256.text(of: SHA256.digest(of: text)) + "\n").utf8) + text
  }

  /// `nil` of what is damaged, or of another format.
  static func read(_ bytes: [UInt8]) -> (entry: CacheEntry, elsewhere: Elsewhere)? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let text = bytes[(end + 1)...]
    guard bytes[..<end].elementsEqual(SHA256.text(of: SHA256.digest(of: text)).utf8),
      let json = JSONValue.read(Array(text)), json["format"] == .int(format),
      let step = json["step"]?.text, let run = json["run"]?.text,
      let storedAt = json["storedAt"]?.integer, let milliseconds = json["milliseconds"]?.integer,
      let key = json["key"]?.members.flatMap(CacheEntry.key),
      let outputs = json["outputs"]?.elements?.mapAll(\.text),
      let files = json["files"]?.elements?.mapAll(CacheEntry.file),
      let written = json["written"]?.elements?.mapAll(CacheEntry.output)
    else { return nil }
    var entry = CacheEntry(
      key: key, step: step, run: run, storedAt: Int64(storedAt), milliseconds: milliseconds,
      outputs: outputs, result: CachedResult(written: written))
    entry.files = files
    entry.keepsStdout = json["stdout"] != nil
    entry.keepsStderr = json["stderr"] != nil
    return (
      entry,
      Elsewhere(
        inputs: json["inputs"]?.text, stdout: json["stdout"]?.text, stderr: json["stderr"]?.text)
    )
  }

  private static let format = 1

  // MARK: Keys

  private var keyObject: JSONObject {
    JSONObject(
      key.words.map { part in
        switch key[part] {
        case .values(let values)? where part != .inputs:
          (part.rawValue, CacheEntry.json(of: values))
        default: (part.rawValue, .string(key.hash(of: part) ?? ""))
        }
      })
  }

  private static func key(_ object: JSONObject) -> CacheKey? {
    var key = CacheKey()
    for member in object {
      guard let part = CachePart(rawValue: member.key) else { return nil }
      if let hash = member.value.text {
        key.set(part, hash: hash)
      } else if let values = values(member.value) {
        key.set(part, values)
      } else {
        return nil
      }
    }
    return key
  }

  /// Named things, for a file of their own too.
  static func json(of values: [CacheValue]) -> JSONValue {
    .array(values.map { [.string($0.name), json(of: $0.content)] })
  }

  static func values(_ json: JSONValue) -> [CacheValue]? {
    json.elements?.mapAll { pair in
      guard let name = pair[0]?.text, let content = pair[1].flatMap(content) else { return nil }
      return CacheValue(name, content)
    }
  }

  // MARK: Contents

  private static func json(of content: CacheContent) -> JSONValue {
    switch content {
    case .text(let text): ["text", .string(text)]
    case .long(let hash): ["long", .string(hash)]
    case .secret(let code): ["secret", .string(code)]
    case .file(let hash, let isExecutable): [isExecutable ? "program" : "file", .string(hash)]
    case .link(let target, let hash):
      ["link", .string(target), hash.map { .string($0) } ?? .null]
    case .directory: ["directory"]
    case .unset: ["unset"]
    }
  }

  private static func content(_ json: JSONValue) -> CacheContent? {
    let text = json[1]?.text
    switch json[0]?.text {
    case "text": return text.map(CacheContent.text)
    case "long": return text.map { .long(hash: $0) }
    case "secret": return text.map { .secret(code: $0) }
    case "file": return text.map { .file(hash: $0, isExecutable: false) }
    case "program": return text.map { .file(hash: $0, isExecutable: true) }
    case "link": return text.map { .link($0, hash: json[2]?.text) }
    case "directory": return .directory
    case "unset": return .unset
    default: return nil
    }
  }

  private static func json(_ file: FileRecord) -> JSONValue {
    [.string(file.path), json(of: file.content), .int(file.size)]
  }

  private static func file(_ json: JSONValue) -> FileRecord? {
    guard let path = json[0]?.text, let content = json[1].flatMap(content),
      let size = json[2]?.integer
    else { return nil }
    return FileRecord(path: path, content, size: size)
  }

  private static func output(_ json: JSONValue) -> CachedOutput? {
    guard let name = json[0]?.text, let value = json[1]?.text else { return nil }
    return CachedOutput(name: name, json: value)
  }
}

extension JSONValue {
  /// `nil` of what is no JSON.
  static func read(_ bytes: [UInt8]) -> JSONValue? {
    let (root, diagnostics) = JSONReader.read(
      SourceFile(path: "", bytes: bytes), limits: JSONLimits(bytes: 1 << 30, problems: 1),
      beside: nil)
    guard let root, !diagnostics.contains(where: \.isError) else { return nil }
    return JSONValue(root)
  }

  fileprivate var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  fileprivate var integer: Int? {
    if case .number(let number) = self { number.asInt } else { nil }
  }

  fileprivate var elements: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  fileprivate var members: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }
}

extension Array {
  /// All of them, or nothing if one has no value.
  fileprivate func mapAll<Value>(_ change: (Element) -> Value?) -> [Value]? {
    var values: [Value] = []
    for element in self {
      guard let value = change(element) else { return nil }
      values.append(value)
    }
    return values
  }
}
