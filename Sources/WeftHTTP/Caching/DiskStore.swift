import Synchronization
import WeftEncoding
import WeftFutures
import WeftPlatform

/// Responses in a folder: one file for each, in 256 subfolders named by the first two digits of the resource.
final class DiskStore: ResponseStore {
  private let folder: PrivateFolder
  private let limits: CacheLimits
  private let now: @Sendable () -> Int64
  private let budget: Mutex<FolderBudget>

  init(_ folder: PrivateFolder, limits: CacheLimits, now: @escaping @Sendable () -> Int64) {
    self.folder = folder
    self.limits = limits
    self.now = now
    budget = Mutex(FolderBudget(limit: limits.totalBytes))
  }

  func responses(
    for key: ResponseKey, where fits: @escaping @Sendable (StoredResponse) -> Bool
  ) -> Future<[StoredResponse], Never> {
    ThreadPool.httpCache.run(ifNotRun: []) { [self] in
      let beginning = Self.name(of: key)
      return folder.names(in: Self.part(of: key.resource))
        .filter { $0.hasPrefix(beginning) }
        .compactMap { name in
          guard let response = read(name), response.key == key, fits(response) else { return nil }
          folder.touch(name)
          return response
        }
    }
  }

  func keep(_ response: StoredResponse) -> Future<Void, Never> {
    ThreadPool.httpCache.run(ifNotRun: ()) { [self] in
      guard let bytes = StoredResponseFile.bytes(of: response) else { return }
      if budget.withLock({ $0.isDue(writing: bytes.count) }) { clean() }
      try? folder.replace(Self.name(of: response), with: bytes)
    }
  }

  func remove(_ response: StoredResponse) -> Future<Void, Never> {
    ThreadPool.httpCache.run(ifNotRun: ()) { [self] in folder.remove(Self.name(of: response)) }
  }

  func remove(resources: [String]) -> Future<Void, Never> {
    if resources.isEmpty { return Future(value: ()) }
    return ThreadPool.httpCache.run(ifNotRun: ()) { [self] in
      for resource in resources {
        let part = Self.part(of: resource)
        for name in folder.names(in: part) where name.hasPrefix("\(part)/\(resource).") {
          folder.remove(name)
        }
      }
    }
  }

  /// Removes a file that cannot be parsed, since it is useless to all readers.
  private func read(_ name: String) -> StoredResponse? {
    // 1 MiB covers everything but the body: a transport limits that to no more.
    guard let bytes = folder.read(name, limit: limits.bodyBytes + (1 << 20)) else { return nil }
    let response = StoredResponseFile.response(in: bytes)
    if response == nil { folder.remove(name) }
    return response
  }

  private func clean() {
    let parts = (0...255).map { Self.hex(UInt8($0)) }
    for part in parts { folder.removeUnfinished(in: part, before: now() - 3600) }
    let all = parts.flatMap(folder.entries(in:))
    let names = budget.withLock { $0.excess(all) }
    for name in names { folder.remove(name) }
  }
}

extension DiskStore {
  private static func part(of resource: String) -> String { String(resource.prefix(2)) }

  private static func hex(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  /// The common prefix of all files for a key. The digits that it cuts off are compared when the file is read.
  private static func name(of key: ResponseKey) -> String {
    "\(part(of: key.resource))/\(key.resource).\(key.requester.prefix(16))."
  }

  private static func name(of response: StoredResponse) -> String {
    let variant = SHA256.digest(of: response.vary.joined(separator: ",").utf8)
    return name(of: response.key)
      + "\(SHA256.text(of: variant).prefix(8))\(response.selection.prefix(16))"
  }
}

/// The file form of a stored response: header lines, an empty line, and the body. The first line names the format and
/// its version; the last one is the SHA-256 of everything else, so that torn or modified files are detected.
enum StoredResponseFile {
  private static let format = "weft-http-response 1"

  /// `nil` if the response could not be read back.
  static func bytes(of response: StoredResponse) -> [UInt8]? {
    var lines = [
      format, "resource " + response.key.resource, "asker " + response.key.requester,
      "selection " + response.selection, "asked \(response.requestTime)",
      "answered \(response.responseTime)", "status \(response.head.status)",
    ]
    lines += response.vary.map { "vary " + $0 }
    lines += response.head.headers.fields.map { "header \($0.name): \($0.value)" }
    guard !lines.contains(where: { $0.utf8.contains(UInt8(ascii: "\n")) }) else { return nil }
    let text = lines.joined(separator: "\n") + "\n"
    let end = "sum \(sum(of: text.utf8, response.body))\n\n"
    return Array((text + end).utf8) + response.body
  }

  /// `nil` if the file is incomplete, modified or of another version.
  static func response(in file: [UInt8]) -> StoredResponse? {
    guard let end = endOfHead(file), let text = String(validating: file[..<end], as: UTF8.self)
    else { return nil }
    let lines = text.split(separator: "\n")
    guard let first = lines.first, first == format[...], let last = lines.last else { return nil }
    let body = Array(file[(end + 2)...])
    guard last == "sum \(sum(of: file[..<(end - last.utf8.count)], body))" else { return nil }
    return StoredResponseLines(lines.dropFirst().dropLast())?.response(body)
  }

  private static func endOfHead(_ file: [UInt8]) -> Int? {
    let newline = UInt8(ascii: "\n")
    return file.indices.dropLast().first { file[$0] == newline && file[$0 + 1] == newline }
  }

  private static func sum(of head: some Collection<UInt8>, _ body: [UInt8]) -> String {
    var hash = SHA256()
    hash.update(head)
    hash.update(body)
    return SHA256.text(of: hash.digest())
  }
}

/// The content of the lines, by their first words.
private struct StoredResponseLines {
  private var single: [Substring: String] = [:]
  private var vary: [String] = []
  private var headers = HTTPHeaders()

  init?(_ lines: some Sequence<Substring>) {
    for line in lines {
      guard let space = line.firstIndex(of: " ") else { return nil }
      let (word, rest) = (line[..<space], String(line[line.index(after: space)...]))
      switch word {
      case "vary": vary.append(rest)
      case "header":
        guard let colon = rest.firstIndex(of: ":") else { return nil }
        headers.add(
          HTTPHeader(String(rest[..<colon]), String(rest[rest.index(after: colon)...].dropFirst())))
      default: single[word] = rest
      }
    }
  }

  /// Parses seconds since 1970, up to the end of year 9999, so that arithmetic on them cannot overflow.
  private static func moment(_ text: String) -> Int64? {
    Int64(text).flatMap { (0...253_402_300_799).contains($0) ? $0 : nil }
  }

  func response(_ body: [UInt8]) -> StoredResponse? {
    guard let resource = single["resource"], let requester = single["asker"],
      let selection = single["selection"], let asked = single["asked"].flatMap(Self.moment),
      let answered = single["answered"].flatMap(Self.moment),
      let status = single["status"].flatMap({ Int($0) }), (100...999).contains(status)
    else { return nil }
    return StoredResponse(
      key: ResponseKey(resource: resource, requester: requester), vary: vary, selection: selection,
      head: HTTPResponseHead(status: status, headers: headers), body: body, requestTime: asked,
      responseTime: answered)
  }
}
