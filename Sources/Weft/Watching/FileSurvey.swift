import WeftCaching
import WeftEncoding
import WeftExpressions
import WeftPlatform

/// The contents of all files that count, by their paths for messages.
struct FileSurvey: Sendable, Hashable {
  private(set) var contents: [String: CacheContent] = [:]
  /// The files that symbolic links lead to: a write to one changes the link's content, too.
  private(set) var linkTargets: Set<WatchScope.Path> = []
  /// The directories that cannot be read, each with the reason.
  private(set) var problems: [String] = []

  /// The files that are new, gone or different in the other survey.
  func differences(from other: FileSurvey) -> Set<String> {
    var changed: Set<String> = []
    for (path, content) in contents where other.contents[path] != content { changed.insert(path) }
    for path in other.contents.keys where contents[path] == nil { changed.insert(path) }
    return changed
  }

  /// Takes over what another survey says about some files.
  mutating func update(_ paths: Set<String>, from other: FileSurvey) {
    for path in paths { contents[path] = other.contents[path] }
  }

  /// Forgets files that do not count any more.
  mutating func keepOnly(_ counts: (String) -> Bool) {
    contents = contents.filter { counts($0.key) }
  }

  /// Sets the content of a file as it was read before the survey.
  ///
  /// - Returns: Whether it is different now.
  mutating func set(_ path: String, read bytes: [UInt8]) -> Bool {
    var hash = SHA256()
    hash.update(bytes)
    let text = SHA256.text(of: hash.digest())
    guard case .file(let now, let isExecutable)? = contents[path], now != text else {
      return contents[path] == nil
    }
    contents[path] = .file(hash: text, isExecutable: isExecutable)
    return true
  }
}

extension FileSurvey {
  /// Reads all files of a scope, and watches their directories.
  ///
  /// - Parameter watch: Called with the path of each directory before it is read.
  init(
    _ scope: WatchScope, _ memory: FileMemory, stop: StopSwitch,
    watch: (String) throws(SystemError) -> Void
  ) throws(SystemError) {
    var ignored = IgnoredFiles()
    for file in scope.files {
      try FileSurvey.watchNearest(Array(file.dropLast()), watch)
      if let content = FileSurvey.content(at: FileSurvey.text(file), memory) {
        contents[scope.shown(file)] = content
      }
    }
    for tree in scope.trees {
      try FileSurvey.watchNearest(tree.path, watch)
      guard let root = try? Directory(FileSurvey.text(tree.path)) else { continue }
      let reader = WorkspaceReader(root, memory: memory, stop: stop)
      var failure: SystemError?
      let choice = Directory.Choice(
        entersDirectory: { failure == nil && scope.enters(tree.path + $0, &ignored) },
        onlyNames: { tree.selection?.onlyNames(in: $0) }, repairsNames: true)
      do throws(WorkspaceError) {
        try root.walk(choice, stop: stop) { (found) throws(WorkspaceError) in
          let path = tree.path + found.path
          if found.stamp.kind == .directory {
            guard scope.enters(path, &ignored) else { return }
            do throws(SystemError) { try watch(FileSurvey.text(path)) } catch {
              // Gone again, or not ours to read.
              if [.notFound, .notDirectory, .notPermitted].contains(error) { return }
              failure = error
              throw WorkspaceError(.system(error), at: found.path)
            }
          } else if scope.includes(path, &ignored) {
            if found.stamp.kind == .link,
              let target = try? FileSystem.resolved(FileSurvey.text(path))
            {
              let target = scope.path(target)
              linkTargets.insert(target)
              do throws(SystemError) {
                try FileSurvey.watchNearest(Array(target.dropLast()), watch)
              } catch {
                failure = error
                throw WorkspaceError(.system(error), at: found.path)
              }
            }
            let record: FileRecord?
            do throws(WorkspaceError) { record = try reader.record(of: found) } catch {
              // Gone again, being written, or unreadable: another notice follows when that changes.
              guard error.kind != .stopped else { throw error }
              record = nil
            }
            if let record { contents[scope.shown(path)] = record.content }
          }
        }
      } catch {
        if let failure { throw failure }
        if error.kind != .stopped { problems.append(error.message) }
      }
    }
  }

  private static func text(_ path: WatchScope.Path) -> String {
    "/" + path.joined(separator: "/")
  }

  /// Watches a directory or, while it is missing, the nearest one above it.
  private static func watchNearest(
    _ path: WatchScope.Path, _ watch: (String) throws(SystemError) -> Void
  ) throws(SystemError) {
    var rest = path
    while true {
      do throws(SystemError) { return try watch(text(rest)) } catch {
        guard [.notFound, .notDirectory, .notPermitted].contains(error), !rest.isEmpty else {
          throw error
        }
        rest.removeLast()
      }
    }
  }

  /// The content of the regular file that a path leads to, or the directory that a link leads to.
  private static func content(at path: String, _ memory: FileMemory) -> CacheContent? {
    guard let (file, _) = try? Descriptor.opened(regularFile: path),
      let stamp = try? FileStamp(of: file), case .file(let isExecutable) = stamp.kind
    else {
      guard FileSystem.isDirectory(path), let target = try? FileSystem.resolved(path),
        target != path
      else { return nil }
      return .link(target, hash: nil)
    }
    let moment = memory.moment
    guard let digest = memory.digest(of: stamp) ?? (try? file.digest()).flatMap({ $0 }) else {
      return nil
    }
    if (try? FileStamp(of: file)) == stamp { memory.learn(stamp, digest, readAt: moment) }
    return .file(hash: SHA256.text(of: digest), isExecutable: isExecutable)
  }
}
