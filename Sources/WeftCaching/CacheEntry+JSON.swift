import WeftDiagnostics
import WeftEncoding
import WeftJSON
import WeftPlatform

/// The file form of an entry: a line with the HMAC of the rest, by the secret of the folder, and the rest as JSON.
/// Large parts have files of their own, named by their hashes.
///
/// An entry is untrusted input: paths must be within the outputs, hashes must be well-formed, and numbers are
/// limited.
extension CacheEntry {
  /// The hashes of the parts that have files of their own.
  struct ObjectReferences {
    /// The key's list of inputs.
    var inputs: String?
    var stdout: String?
    var stderr: String?
    var log: Log?

    /// The log's bytes are in a file of their own.
    struct Log: Hashable {
      var hash: String
      var stretches: [Int]
      var isWhole: Bool
    }
  }

  func bytes(_ objectReferences: ObjectReferences, _ code: HMAC) -> [UInt8] {
    var object: JSONObject = [
      "format": .int(CacheEntry.format), "step": .string(step), "run": .string(run),
      "storedAt": .int(storedAt), "milliseconds": .int(milliseconds),
      "key": .object(keyObject), "outputs": .array(outputs.map { .string($0) }),
      "files": .array(files.map(CacheEntry.json)),
      "foreign": .array(foreign.map(CacheEntry.json)),
      "written": .array(result.written.map { [.string($0.name), .string($0.json)] }),
    ]
    object["inputs"] = objectReferences.inputs.map { .string($0) }
    object["stdout"] = objectReferences.stdout.map { .string($0) }
    object["stderr"] = objectReferences.stderr.map { .string($0) }
    object["log"] = objectReferences.log.map { log in
      [.string(log.hash), .array(log.stretches.map { .int($0) }), .bool(log.isWhole)]
    }
    let text = Array(JSONValue.object(object).description.utf8)
    return Array((CacheEntry.code(of: text, code) + "\n").utf8) + text
  }

  /// Returns the HMAC of an entry. The prefix separates it from the codes of secrets, which use the same key.
  private static func code(of text: some Collection<UInt8>, _ code: HMAC) -> String {
    SHA256.text(of: code.digest(of: Array("weft cache entry\n".utf8) + text))
  }

  /// `nil` if it is damaged, in another format, or not written by a process with the secret of the folder.
  static func read(
    _ bytes: [UInt8], _ code: HMAC
  ) -> (entry: CacheEntry, objectReferences: ObjectReferences)? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let text = bytes[(end + 1)...]
    guard bytes[..<end].elementsEqual(CacheEntry.code(of: text, code).utf8),
      let json = JSONValue.read(Array(text)), json["format"] == .int(format),
      let step = json["step"]?.text, let run = json["run"]?.text,
      let storedAt = json["storedAt"]?.integer, momentLimits.contains(storedAt),
      let milliseconds = json["milliseconds"]?.integer, amountLimits.contains(milliseconds),
      let key = json["key"]?.members.flatMap(CacheEntry.key),
      let outputs = json["outputs"]?.elements?.mapAll(\.text),
      let files = json["files"]?.elements?.mapAll(CacheEntry.file),
      let foreign = json["foreign"]?.elements?.mapAll(CacheEntry.file),
      arePlausible(files, foreign, outputs),
      ["inputs", "stdout", "stderr"].allSatisfy({ json[$0] == nil || json[$0]?.hash != nil }),
      let written = json["written"]?.elements?.mapAll(CacheEntry.output)
    else { return nil }
    let log = json["log"].flatMap(CacheEntry.log)
    guard log != nil || json["log"] == nil else { return nil }
    var entry = CacheEntry(
      key: key, step: step, run: run, storedAt: Int64(storedAt), milliseconds: milliseconds,
      outputs: outputs, result: CachedResult(written: written))
    entry.files = files
    entry.foreign = foreign
    entry.keepsStdout = json["stdout"] != nil
    entry.keepsStderr = json["stderr"] != nil
    entry.keepsWholeLog = log?.isWhole ?? false
    return (
      entry,
      ObjectReferences(
        inputs: json["inputs"]?.text, stdout: json["stdout"]?.text, stderr: json["stderr"]?.text,
        log: log)
    )
  }

  private static func log(_ json: JSONValue) -> ObjectReferences.Log? {
    guard let hash = json[0]?.hash,
      let stretches = json[1]?.elements?.mapAll(\.integer),
      stretches.allSatisfy(amountLimits.contains), case .bool(let isWhole)? = json[2]
    else { return nil }
    return ObjectReferences.Log(hash: hash, stretches: stretches, isWhole: isWhole)
  }

  private static let format = 2
  /// Milliseconds since 1970 that fit in 64-bit nanoseconds.
  private static let momentLimits = 0...Int(Int64.max / 1_000_000)
  /// The range of sizes and milliseconds, small enough to be summed.
  private static let amountLimits = 0...(1 << 50)

  /// Whether every file is in one of the outputs, once, in directories that are listed before it.
  private static func arePlausible(
    _ files: [FileRecord], _ foreign: [FileRecord], _ outputs: [String]
  ) -> Bool {
    guard outputs.allSatisfy(isPlain), foreign.allSatisfy({ !$0.isDirectory }) else { return false }
    var directories: Set<String> = []
    var known: Set<String> = []
    for file in files + foreign {
      guard isPlain(file.path), known.insert(file.path).inserted else { return false }
      guard
        outputs.contains(where: { file.path.utf8.elementsEqual($0.utf8) })
          || directories.contains(file.names.dropLast().joined(separator: "/"))
      else { return false }
      if file.isDirectory { directories.insert(file.path) }
    }
    return true
  }

  /// Whether a path consists of plain names only, so that it cannot lead elsewhere.
  private static func isPlain(_ path: String) -> Bool {
    !path.utf8.contains(0)
      && path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && $0 != "." && $0 != ".." && !$0.hasPrefix(StagedFiles.prefix)
      }
  }

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

  /// Returns named values as JSON; also the content of a separate file.
  static func json(of values: [CacheValue]) -> JSONValue {
    .array(values.map { [.string($0.name), json(of: $0.content)] })
  }

  /// Reads named values; `nil` if they are damaged, or a name occurs twice.
  static func values(_ json: JSONValue) -> [CacheValue]? {
    json.elements?.mapAll { pair in
      guard let name = pair[0]?.text, let content = pair[1].flatMap(content) else { return nil }
      return CacheValue(name, content)
    }.flatMap(CacheKey.sorted)
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
    [
      .string(file.path), json(of: file.content), .int(file.size), .int(Int(file.permissions)),
    ]
  }

  private static func file(_ json: JSONValue) -> FileRecord? {
    guard let path = json[0]?.text, let content = json[1].flatMap(content),
      let size = json[2]?.integer, amountLimits.contains(size),
      let permissions = json[3]?.integer, (0...0o777).contains(permissions)
    else { return nil }
    switch content {
    case .file(let hash, _) where hash.isHash: break
    case .link, .directory: break
    case .file, .text, .long, .secret, .unset: return nil
    }
    return FileRecord(path: path, content, size: size, permissions: UInt32(permissions))
  }

  private static func output(_ json: JSONValue) -> CachedOutput? {
    guard let name = json[0]?.text, let value = json[1]?.text else { return nil }
    return CachedOutput(name: name, json: value)
  }
}

extension JSONValue {
  /// `nil` if the bytes are not valid JSON.
  static func read(_ bytes: [UInt8]) -> JSONValue? {
    let (root, diagnostics) = JSONReader.read(
      SourceFile(path: "", bytes: bytes), limits: JSONLimits(bytes: 1 << 30, problems: 1),
      beside: nil)
    guard let root, !diagnostics.contains(where: \.isError) else { return nil }
    return JSONValue(root)
  }

  fileprivate var hash: String? { text.flatMap { $0.isHash ? $0 : nil } }

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

extension String {
  /// Whether it is a SHA-256 in hexadecimal digits, and thus a safe file name.
  fileprivate var isHash: Bool {
    utf8.count == 64
      && utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }
}

extension Array {
  /// Returns all results, or `nil` if one is missing.
  fileprivate func mapAll<Value>(_ change: (Element) -> Value?) -> [Value]? {
    var values: [Value] = []
    for element in self {
      guard let value = change(element) else { return nil }
      values.append(value)
    }
    return values
  }
}
