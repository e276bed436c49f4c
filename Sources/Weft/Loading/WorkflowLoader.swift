import WeftDefinition
import WeftDiagnostics
import WeftPlatform

/// Reads a workflow file and the files that it names.
///
/// In the order of the work: ``LoadingPass`` walks through the files, each once, depth first. It reads their bytes
/// through `Directory`; ``NestingChain`` rejects files that run themselves or are nested too deeply, and
/// ``ByteBudget`` limits their total size. A problem with naming a file is a ``NamingError``.
enum WorkflowLoader {
  /// Reads the file at `path` and all files it names.
  ///
  /// Blocks until they are read: at most 64 MiB for the first, which must find a writer within 5 seconds if it is a
  /// FIFO, and ``WorkflowLimits/nestedBytes`` for all others together.
  ///
  /// - Parameters:
  ///   - path: Relative to the current directory; `-` is standard input.
  ///   - startDirectory: See ``load(_:at:startDirectory:)``.
  /// - Throws: The reason why the first file cannot be read. Problems with other files are diagnostics.
  static func load(
    _ path: String, startDirectory: String? = nil
  ) throws(FileReadError) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    let bytes = try FileReading.bytes(of: path, limit: WorkflowLimits.fileBytes)
    let isNameless = path == "-"
    return load(
      SourceFile(path: isNameless ? "<stdin>" : path, bytes: bytes), at: isNameless ? nil : path,
      startDirectory: startDirectory)
  }

  /// Decodes a file that was read, and reads all files it names.
  ///
  /// Names are literal, and relative to the file that contains them; a file behind a symbolic link counts by its real
  /// location. Nothing outside the start directory is opened.
  ///
  /// - Parameters:
  ///   - path: The path of the file; `nil` if it has none: names in it are relative to the start directory.
  ///   - startDirectory: The directory that must contain all named files; `nil` is the current directory. Messages show
  ///     paths that begin with it.
  ///   - openTexts: Texts that replace those of files, by their absolute paths.
  /// - Returns: The workflow as far as it was understood, with the nested workflow of each step that runs another file
  ///   if that could be read, and all diagnostics: those of the file, then those of the other files in the order in
  ///   which they are named. The diagnostics of a nested file are reported once, however often it is named.
  static func load(
    _ file: SourceFile, at path: String?, startDirectory: String? = nil,
    openTexts: [String: [UInt8]] = [:]
  ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    var decoded = WorkflowDecoder.decoded(file)
    return load(&decoded) {
      LoadingPass(
        root: file, at: path, saying: $0, startDirectory: startDirectory, openTexts: openTexts)
    }
  }

  /// Decodes a recorded file with those that it names. No file is read: one that is not among them is missing.
  ///
  /// - Parameters:
  ///   - path: See ``load(_:at:startDirectory:openTexts:)``.
  ///   - named: Nested files and scripts, with their recorded paths.
  ///   - directory: The absolute path of the directory to which recorded paths are relative. It may not exist any more.
  static func load(
    _ file: SourceFile, at path: String?, recordedWith named: [SourceFile], in directory: String
  ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    var decoded = WorkflowDecoder.decoded(file)
    return load(&decoded) {
      LoadingPass(root: file, at: path, saying: $0, recordedWith: named, in: directory)
    }
  }

  private static func load(
    _ decoded: inout DecodedFile, _ makePass: ([Diagnostic]) -> LoadingPass
  ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    guard decoded.namesOtherFiles, var workflow = decoded.workflow else {
      return (decoded.workflow, decoded.diagnostics)
    }
    decoded.workflow = nil  // avoids copying all its steps
    var pass = makePass(decoded.diagnostics)
    pass.complete(&workflow)
    return (workflow, pass.diagnostics)
  }
}

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
  /// The texts that replace those of files, or are read instead of any.
  private let texts: NamedTexts
  /// The prefix that makes paths inside the directory relative to the current one.
  let prefix: String
  private let root: ConfinedPath?
  private var files: [ConfinedPath: LoadedFile] = [:]
  private var chain: NestingChain
  private var budget = ByteBudget(limit: WorkflowLimits.nestedBytes)
  /// The number of names that may still be suggested: as many as messages are shown, for each reads a directory.
  private var suggestionsLeft = DiagnosticCollection.defaultLimit
  private var report: LoadingReport
  /// Script files, each read once.
  var scripts: [ConfinedPath: LoadedScript] = [:]

  /// - Parameters:
  ///   - path: The path of the root; `nil` if it has none.
  ///   - diagnostics: The diagnostics of the root.
  init(
    root: SourceFile, at path: String?, saying diagnostics: [Diagnostic], startDirectory: String?,
    openTexts texts: [String: [UInt8]] = [:]
  ) {
    prefix = startDirectory.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
    self.texts = NamedTexts(
      open: texts, below: startDirectory ?? ".", prefix: prefix)
    do throws(SystemError) {
      let start = startDirectory ?? "."
      // A deleted directory can still be opened.
      _ = try ConfinedPath(resolving: start)
      let directory = try Directory(start, listable: false)
      self.root = path.flatMap { ConfinedPath(of: $0, below: start, new: true) }
      self.directory =
        if let path, self.root == nil { .failure(.rootOutside(path)) } else { .success(directory) }
    } catch {
      self.root = nil
      directory = .failure(.noStartDirectory(error))
    }
    chain = NestingChain(root: self.root, called: root.path)
    report = LoadingReport(of: diagnostics)
  }

  /// A pass over recorded files, which reads no other.
  init(
    root: SourceFile, at path: String?, saying diagnostics: [Diagnostic],
    recordedWith named: [SourceFile], in start: String
  ) {
    texts = NamedTexts(recorded: named, in: start)
    // Paths may have been absolute, and links may have led from one directory to another.
    prefix = "/"
    do throws(SystemError) { directory = .success(try Directory(prefix, listable: false)) } catch {
      directory = .failure(.noStartDirectory(error))
    }
    self.root = NamedTexts.place(of: path ?? "-", in: start)
    chain = NestingChain(root: self.root, called: root.path)
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
    var scripts: [SourceFile] = []
    var knownScripts: Set<SourceFile> = []
    // Keyed by bytes, because two spellings of "é" are two files.
    var known: [[UInt8]: Result<LoadedFile, NamingError>] = [:]
    workflow.updateStepsNamingFiles { step in
      if case .run(let command) = step.action, case .file(let script) = command.invocation {
        if let script = complete(script, of: &step, from: directory, in: file, named: source),
          knownScripts.insert(script).inserted
        {
          scripts.append(script)
        }
        return
      }
      guard case .workflow(var nested) = step.action else { return }
      defer { step.action = .workflow(nested) }
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
    workflow.scripts.value = scripts
    return longest
  }

  /// Reports a problem of a script file.
  mutating func report(_ problem: Diagnostic) { _ = report.add([problem]) }

  /// Reports that a file cannot be read, where a workflow file names it.
  mutating func report(
    _ fault: NamingError, of path: String, at range: SourceRange?, in file: Int,
    named source: SourceFile?
  ) {
    report.report(
      fault, of: path,
      at: range.flatMap { range in source.map { Diagnostic.Place(file: $0, range: range) } },
      in: file)
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

    let source = try source(of: found)
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

  mutating func open(
    _ path: String, from start: ConfinedPath
  ) throws(NamingError) -> NamedFile {
    if let recorded = texts.recorded(path, from: start) { return NamedFile(path: recorded) }
    let directory = try directory.get()
    do throws(ConfinedFileError) {
      let file = try directory.file(path, from: start)
      return NamedFile(path: file.path, file: file)
    } catch {
      guard case .missing(let name, let place) = error else { throw .notOpened(error) }
      if let recorded = texts.recorded(name, from: place) { return NamedFile(path: recorded) }
      var nearest: String?
      if suggestionsLeft > 0 {
        suggestionsLeft -= 1
        nearest = NearestName(directory.names(in: place)).nearest(to: name)
      }
      throw .missing(
        name, in: place.names.isEmpty ? nil : prefix + place.text, nearest: nearest)
    }
  }

  mutating func source(of file: NamedFile) throws(NamingError) -> SourceFile {
    if let text = texts[file.path] {
      budget.take(text.bytes.count)
      return text
    }
    guard !texts.areRecorded, let open = file.file else {
      throw .missing(file.path.text, in: nil, nearest: nil)
    }
    let bytes: [UInt8]
    do throws(FileReadError) { bytes = try open.bytes(limit: budget.left) } catch {
      if case .tooLarge = error {
        budget.exhaust()
        throw .tooLarge(limit: budget.limit)
      }
      throw .notOpened(.notRead(error))
    }
    budget.take(bytes.count)
    return SourceFile(path: prefix + file.path.text, bytes: bytes)
  }
}

/// A file that was found by its name.
struct NamedFile {
  let path: ConfinedPath
  /// `nil` for one that is recorded.
  var file: ConfinedFile?
}

/// The number of bytes that may still be read.
struct ByteBudget: Sendable, Hashable {
  let limit: Int
  private(set) var left: Int

  init(limit: Int) {
    self.limit = limit
    left = limit
  }

  mutating func take(_ count: Int) { left = max(0, left - count) }

  /// Stops all further reading after a file that was too large: which of the smaller files still fit would depend on
  /// their order.
  mutating func exhaust() { left = 0 }
}

/// The diagnostics of all files, in the order in which the files were first named.
struct LoadingReport {
  private var byFile: [[Diagnostic]]
  private var reportedErrors: Set<NamingError> = []
  private var faultCount = 0

  init(of root: [Diagnostic]) {
    byFile = [root]
  }

  var diagnostics: [Diagnostic] { byFile.flatMap { $0.sortedByLocation() } }

  /// Adds the diagnostics of another file, and returns its number.
  mutating func add(_ diagnostics: [Diagnostic]) -> Int {
    byFile.append(diagnostics)
    return byFile.count - 1
  }

  mutating func report(
    _ fault: NamingError, of path: String, at place: Diagnostic.Place?, in file: Int
  ) {
    // The reader has already reported it.
    if fault == .notOpened(.notRead(.nulInPath)) { return }
    if fault.concernsAll, !reportedErrors.insert(fault).inserted { return }
    guard faultCount < WorkflowLimits.problems else { return }
    faultCount += 1
    byFile[file].append(
      Diagnostic(
        .error, code: fault.code, message: fault.message(of: path), place: place,
        help: fault.help, related: fault.related))
  }
}

extension NamingError {
  fileprivate var related: [Diagnostic.Related] {
    switch self {
    case .runsItself(let chain), .tooDeep(let chain): chain.related
    case .missing, .notOpened, .tooLarge, .rootOutside, .noStartDirectory: []
    }
  }
}

extension Workflow {
  /// Updates each step that runs another file, in file order; of those of cleanups, scripts alone can.
  mutating func updateStepsNamingFiles(_ update: (inout Step) -> Void) {
    body.members.updateStepsNamingFiles(update)
    finally.updateStepsNamingFiles(update)
  }
}

extension [Step] {
  /// Recurses: groups are at most ``WorkflowLimits/groupDepth`` deep.
  fileprivate mutating func updateStepsNamingFiles(_ update: (inout Step) -> Void) {
    for index in indices {
      switch self[index].action {
      case .workflow: update(&self[index])
      case .run(let command):
        if case .file = command.invocation { update(&self[index]) }
      case .group(var group):
        // Drops the second owner, so that the members are changed in place.
        self[index].action = .compute
        group.members.updateStepsNamingFiles(update)
        self[index].action = .group(group)
      case .use, .http, .compute, .wait, .approve: break
      }
      if self[index].hasControl, !self[index].control.cleanup.isEmpty {
        self[index].control.cleanup.updateStepsNamingFiles(update)
      }
    }
  }
}
