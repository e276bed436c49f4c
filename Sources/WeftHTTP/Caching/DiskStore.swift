import Synchronization
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
    let names = budget.withLock { $0.superfluous(all) }
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
    "\(part(of: key.resource))/\(key.resource).\(key.asker.prefix(16))."
  }

  private static func name(of response: StoredResponse) -> String {
    let variant = SHA256.digest(of: response.vary.joined(separator: ",").utf8)
    return name(of: response.key)
      + "\(SHA256.text(of: variant).prefix(8))\(response.selection.prefix(16))"
  }
}
