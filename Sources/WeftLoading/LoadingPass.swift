import WeftDefinition
import WeftDiagnostics
import WeftPlatform

/// One walk through a file and all files it names.
struct LoadingPass {
  /// A file that was read, with all files below it.
  private struct LoadedFile {
    var workflow: Workflow?
    /// Whether the file itself has errors, which are already reported.
    var isRejected: Bool
    /// The names of the longest chain of nested files below it.
    var longest: [String]
  }

  /// The directory that must contain all other files, or why none can be read.
  private let directory: Result<Directory, NamingError>
  /// The prefix that makes paths inside the directory relative to the current one.
  private let prefix: String
  private let root: ConfinedPath?
  private var files: [ConfinedPath: LoadedFile] = [:]
  private var chain: NestingChain
  private var budget = ByteBudget(limit: WorkflowLimits.nestedBytes)
  private var suggestions = SuggestionBudget()
  private var report: LoadingReport

  /// - Parameters:
  ///   - path: The path of the root; `nil` if it has none.
  ///   - diagnostics: The diagnostics of the root.
  init(
    root: SourceFile, at path: String?, saying diagnostics: [Diagnostic], startDirectory: String?
  ) {
    let start = LoadingStart(of: path, in: startDirectory)
    directory = start.directory
    self.root = start.root
    prefix = startDirectory.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
    chain = NestingChain(root: start.root, called: root.path)
    report = LoadingReport(of: diagnostics)
  }

  /// The diagnostics of the root, then those of the other files in the order in which they were first named.
  var diagnostics: [Diagnostic] { report.diagnostics }

  /// Reads all files that the root names.
  mutating func complete(_ workflow: inout Workflow) {
    _ = complete(&workflow, file: 0, from: root?.parent ?? ConfinedPath())
  }

  /// Reads the files that the steps of a file name, and returns the names of the longest chain of nested files below
  /// it. Recurses as deep as files may be nested.
  private mutating func complete(
    _ workflow: inout Workflow, file: Int, from directory: ConfinedPath
  ) -> [String] {
    let source = workflow.source.value
    var longest: [String] = []
    // Keyed by bytes, because two spellings of "é" are two files.
    var known: [[UInt8]: Result<LoadedFile, NamingError>] = [:]
    workflow.updateNestedWorkflows { nested in
      let range = nested.place.value
      let place = source.flatMap { source in
        range.map { Diagnostic.Place(file: source, range: $0) }
      }
      let key = Array(nested.path.utf8)
      let reading =
        known[key]
        ?? Result { () throws(NamingError) in
          try read(nested.path, from: directory, named: place)
        }
      known[key] = reading
      switch reading {
      case .success(let file):
        nested.workflow = file.workflow
        nested.isRejected = file.isRejected
        if file.longest.count > longest.count { longest = file.longest }
      case .failure(let fault):
        nested.isRejected = true
        report.report(fault, of: nested.path, at: place, in: file)
      }
    }
    return longest
  }

  /// Decodes and completes a file that was not read before.
  private mutating func read(
    _ path: String, from start: ConfinedPath, named place: Diagnostic.Place?
  ) throws(NamingError) -> LoadedFile {
    let found = try open(path, from: start)
    let known = files[found.path]
    let hop = NestingChain.Hop(
      file: found.path, name: prefix + found.path.text, naming: place)
    try chain.check(hop, above: known?.longest ?? [])
    if let known { return known }

    let source = SourceFile(path: hop.name, bytes: try bytes(of: found))
    var decoded = WorkflowDecoder.decoded(source)
    let isRejected = decoded.diagnostics.contains(where: \.isError)
    let file = report.add(decoded.diagnostics)
    var longest = [hop.name]
    if decoded.namesOtherFiles, var workflow = decoded.workflow {
      decoded.workflow = nil  // avoids copying all its steps
      chain.enter(hop)
      longest += complete(&workflow, file: file, from: found.path.parent)
      chain.leave()
      decoded.workflow = workflow
    }
    let loaded = LoadedFile(
      workflow: decoded.workflow, isRejected: isRejected, longest: longest)
    files[found.path] = loaded
    return loaded
  }

  private mutating func open(
    _ path: String, from start: ConfinedPath
  ) throws(NamingError) -> ConfinedFile {
    let directory = try directory.get()
    do { return try directory.file(path, from: start) } catch {
      guard case .missing(let name, let place) = error else { throw .notOpened(error) }
      let nearest = suggestions.nearest(to: name) { directory.names(in: place) }
      throw .missing(
        name, in: place.names.isEmpty ? nil : prefix + place.text, nearest: nearest)
    }
  }

  private mutating func bytes(of file: ConfinedFile) throws(NamingError) -> [UInt8] {
    let bytes: [UInt8]
    do { bytes = try file.bytes(limit: budget.left) } catch {
      if case .tooLarge = error {
        budget.exhaust()
        throw .tooLarge(limit: budget.limit)
      }
      throw .notOpened(.notRead(error))
    }
    budget.take(bytes.count)
    return bytes
  }
}
