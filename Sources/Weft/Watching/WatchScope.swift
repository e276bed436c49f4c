import WeftDefinition
import WeftEncoding
import WeftExecution
import WeftExpressions
package import WeftPlanning
import WeftPlatform

/// The files whose change starts a watched run again, as paths: trees with patterns, and single files.
package struct WatchScope: Sendable {
  /// A path as the names from the root of the file system on.
  package typealias Path = [String]

  /// The files below a directory that patterns select.
  struct Tree: Sendable {
    let path: Path
    /// `nil` for all.
    let selection: FileSelection?
    /// The root of the git repository that contains it, or else the tree itself.
    let repository: Path
    /// Whether it has more files than steps read, as some patterns are computed.
    let isWidened: Bool

    init(path: Path, selection: FileSelection?, isWidened: Bool = false) {
      (self.path, self.selection, self.isWidened) = (path, selection, isWidened)
      repository = IgnoredFiles.repository(around: path) ?? path
    }

    func canInclude(below directory: Path) -> Bool {
      directory.starts(with: path)
        && selection?.canInclude(below: Array(directory[path.count...])) ?? true
    }

    func includes(_ file: Path) -> Bool {
      file.starts(with: path) && selection?.includes(Array(file[path.count...])) ?? true
    }
  }

  /// The directory in which runs start.
  package let start: Path
  private(set) var trees: [Tree] = []
  /// Files that are named, so that no rule excludes them.
  private(set) var files: Set<Path> = []
  /// Outputs of steps and Weft's own files, with everything below them.
  private var excluded: Set<Path> = []
  /// Trees of the command line and of expressions.
  private var namedTrees: [Tree] = []
  /// The settings of each cached step as they are written, or what the attempts of a run have made of them.
  private var cached: [Int: Set<CachedFiles>] = [:]
  private var learned: [Int: Set<CachedFiles>] = [:]
  /// Whether the workflow or the command line names anything but the workflow's files.
  package private(set) var hasMore = false

  /// - Parameters:
  ///   - start: The absolute path of the directory in which runs start.
  ///   - state: The state directory.
  package init(start: String, state: String) {
    self.start = WatchScope.names(start, in: [])
    exclude(state)
  }

  /// Returns a path relative to the start directory as names, without `.` and `..`.
  package func path(_ path: String) -> Path { WatchScope.names(path, in: start) }

  private static func names(_ path: String, in directory: Path) -> Path {
    var names = path.hasPrefix("/") ? [] : directory
    for name in path.split(separator: "/") where name != "." {
      if name != ".." { names.append(String(name)) } else if !names.isEmpty { names.removeLast() }
    }
    return names
  }

  /// A path for messages: relative to the start directory if it is below.
  package func shown(_ path: Path) -> String {
    path.starts(with: start)
      ? path[start.count...].joined(separator: "/") : "/" + path.joined(separator: "/")
  }

  // MARK: Contents

  /// Adds a workflow or script file.
  package mutating func add(file path: String) {
    files.insert(self.path(path))
    // A write to what a link leads to changes it, too.
    if let target = try? FileSystem.resolved(path) { files.insert(self.path(target)) }
  }

  /// Adds a file or directory that the command line names.
  package mutating func add(watched path: String) {
    hasMore = true
    guard FileSystem.isDirectory(path) else { return add(file: path) }
    let resolved = (try? FileSystem.resolved(path)) ?? path
    // A link may lead elsewhere later.
    if self.path(resolved) != self.path(path) { files.insert(self.path(path)) }
    namedTrees.append(Tree(path: self.path(resolved), selection: nil))
    makeTrees()
  }

  /// Excludes a file or directory that Weft itself writes.
  package mutating func exclude(_ path: String) { excluded.insert(self.path(path)) }

  /// Adds what the steps of a plan read: env files, what `glob` and `hashFiles` select with literal patterns, and the
  /// patterns of `cache.inputs`, without `cache.outputs`.
  package mutating func add(_ plan: Plan) {
    for file in plan.usedEnvironmentFiles.flatMap(\.files) {
      hasMore = true
      add(file: file.path)
    }
    for selection in plan.literalSelections {
      hasMore = true
      namedTrees.append(Tree(path: start, selection: selection))
    }
    for (index, step) in plan.steps.enumerated() {
      guard case .run(let command) = step.step.action else { continue }
      if case .file = command.invocation { hasMore = true }
      guard var caching = command.caching else { continue }
      let written = plan.workingDirectory(of: step) ?? ""
      var directory = path(written)
      if WatchScope.isComputed(written) {
        // Until its attempts say where, it may read any file: a pattern of which nothing is known stands for that.
        (directory, caching.inputs, caching.outputs) = (start, ["${{ cwd }}"], [])
      }
      guard directory.starts(with: start) else { continue }
      cached[index] = [
        CachedFiles(caching, ofStep: index, in: Array(directory[start.count...]))
      ]
    }
    makeTrees()
  }

  /// Notes what an attempt reads and makes. Its outputs do not count from now on.
  mutating func learn(_ files: CachedFiles) {
    excludeOutputs(of: files)
    if cached[files.step]?.contains(where: WatchScope.isComputed) == true {
      learned[files.step, default: []].insert(files)
    }
  }

  /// Replaces patterns that are computed by what the attempts of the run have made of them.
  mutating func takeLearned() {
    if learned.isEmpty { return }
    cached.merge(learned) { $1 }
    learned = [:]
    makeTrees()
  }

  private mutating func makeTrees() {
    trees = namedTrees
    // Each list is a walk over the tree: those without exclusions share one.
    for areComputed in [false, true] {
      var shared: Set<String> = []
      var lists: Set<[String]> = []
      for files in cached.values.joined() where WatchScope.isComputed(files) == areComputed {
        let patterns = addFiles(of: files)
        if patterns.contains(where: { $0.hasPrefix("!") }) {
          lists.insert(patterns)
        } else {
          shared.formUnion(patterns)
        }
      }
      for patterns in [shared.sorted()] + lists.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        guard !patterns.isEmpty, let selection = try? FileSelection(each: patterns) else {
          continue
        }
        hasMore = true
        trees.append(Tree(path: start, selection: selection, isWidened: areComputed))
      }
    }
  }

  /// Adds the single files that a cached step reads, and its outputs.
  ///
  /// - Returns: Its patterns for other files, relative to the start directory.
  private mutating func addFiles(of files: CachedFiles) -> [String] {
    excludeOutputs(of: files)
    var patterns: [String] = []
    for input in files.caching.inputs {
      let isExclusion = input.hasPrefix("!")
      if isExclusion, WatchScope.isComputed(input) { continue }
      let text = WatchScope.widened(input)
      guard let pattern = try? Command.Caching.pattern(text, in: files.directory) else { continue }
      if !isExclusion, !text.contains(where: { "*?[\\".contains($0) }) {
        let file = "/" + (start + Command.Caching.names(pattern)).joined(separator: "/")
        add(file: file)
        hasMore = true
        // A directory selects everything below it, and so will one that is made later.
        if case .file? = (try? FileStamp(at: file))?.kind { continue }
      }
      patterns.append(pattern)
    }
    return patterns
  }

  private mutating func excludeOutputs(of files: CachedFiles) {
    for output in files.caching.outputs where !WatchScope.isComputed(output) {
      if let path = Command.Caching.names(output, in: start + files.directory) {
        excluded.insert(path)
      }
    }
  }

  private static func isComputed(_ files: CachedFiles) -> Bool {
    files.caching.inputs.contains(where: isComputed)
      || files.caching.outputs.contains(where: isComputed)
  }

  private static func isComputed(_ text: String) -> Bool { text.contains("${{") }

  /// A pattern that matches at least what the text does, whatever the values of its expressions are.
  private static func widened(_ text: String) -> String {
    guard isComputed(text) else { return text }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    return (parts.prefix { !isComputed(String($0)) } + ["**"]).joined(separator: "/")
  }

  // MARK: Decisions

  /// Whether git is writing files of a repository: it holds the lock of its index meanwhile.
  var isBeingCheckedOut: Bool {
    Set(trees.map(\.repository)).contains { repository in
      let lock = "/" + (repository + [".git", "index.lock"]).joined(separator: "/")
      return FileSystem.isTrusted(lock) != nil
    }
  }

  /// Whether a change of a file counts.
  ///
  /// - Parameter isCertain: Whether it has to be sure that a step reads it.
  func includes(_ path: Path, _ ignored: inout IgnoredFiles, isCertain: Bool = false) -> Bool {
    if isExcluded(path) { return false }
    if files.contains(path) { return true }
    guard let name = path.last, !WatchScope.isEditorFile(name) else { return false }
    return trees.contains { tree in
      !(isCertain && tree.isWidened) && tree.includes(path)
        && !ignored.contains(path, isDirectory: false, in: tree)
    }
  }

  /// Whether a directory can have files that count, so that it is watched.
  func enters(_ directory: Path, _ ignored: inout IgnoredFiles) -> Bool {
    if isExcluded(directory) { return false }
    return trees.contains { tree in
      tree.canInclude(below: directory)
        && !ignored.contains(directory, isDirectory: true, in: tree)
    }
  }

  /// Whether something that counts may have come or gone with a directory.
  func concerns(_ directory: Path, _ ignored: inout IgnoredFiles) -> Bool {
    files.contains { $0.starts(with: directory) }
      || trees.contains { $0.path.starts(with: directory) }
      || enters(directory, &ignored)
  }

  private func isExcluded(_ path: Path) -> Bool {
    path.contains(".git") || path.contains { $0.hasPrefix(StagedFiles.prefix) }
      || path.indices.contains { excluded.contains(Array(path[...$0])) }
  }

  /// Whether a name is that of a file which an editor makes for itself: a backup, a lock, a swap file, or a test of
  /// whether it may write.
  static func isEditorFile(_ name: String) -> Bool {
    if name.hasSuffix("~") || name.hasPrefix(".#") || name == "4913" { return true }
    if name.hasPrefix("#"), name.hasSuffix("#") { return true }
    if name.hasPrefix(".goutputstream-") || name.hasSuffix(".kate-swp") { return true }
    if name.hasSuffix("___jb_tmp___") || name.hasSuffix("___jb_old___") { return true }
    // .x.swp, .x.swo, .x.swpx
    guard name.hasPrefix("."), let dot = name.lastIndex(of: "."), dot > name.startIndex else {
      return false
    }
    let ending = name[dot...].dropFirst()
    return ending.hasPrefix("sw") && (ending.count == 3 || ending == "swpx" || ending == "swx")
  }
}

extension Plan {
  /// The files that `glob` and `hashFiles` select with literal patterns, such as those of a loop.
  fileprivate var literalSelections: [FileSelection] {
    var found: [FileSelection] = []
    for index in steps.indices { found += values.texts(ofStep: index).flatMap(\.selections) }
    for index in groups.indices { found += values.texts(ofGroup: index).flatMap(\.selections) }
    return found
  }
}

extension PlannedText {
  fileprivate var selections: [FileSelection] {
    var found: [FileSelection] = []
    for expression in template.expressions {
      expression.root.visit { node in
        guard case .call(let function, let arguments) = node.form,
          function == .glob || function == .hashFiles
        else { return }
        let patterns = arguments.compactMap { argument -> String? in
          guard case .literal(.string(let text)) = argument.form else { return nil }
          return text
        }
        guard patterns.count == arguments.count,
          let selection = try? FileSelection(patterns, of: function)
        else { return }
        found.append(selection)
      }
    }
    return found
  }
}
