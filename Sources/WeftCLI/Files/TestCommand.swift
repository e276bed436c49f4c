import Synchronization
import Weft
import WeftDiagnostics
import WeftEncoding
import WeftEvents
import WeftPlatform
import WeftRecord
import WeftReporting
import WeftTestKit

/// `weft test`: runs the cases of test files in virtual time.
struct TestCommand: Subcommand {
  private let paths: [String]
  private let seed: UInt64?
  private let format: TestFormat
  private let directory: String?
  /// The run to write a case from; `nil` to run cases.
  private let recordedRun: String?
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) throws(UsageError) {
    paths = parsed.operands
    seed = try parsed.count(of: .seed, in: 0...Int.max - 1).map(UInt64.init)
    format = try parsed.word(of: .testFormat) ?? .text
    directory = parsed.value(of: .directory)
    recordedRun = parsed.value(of: .fromRun)
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    if let recordedRun { return try writeCase(from: recordedRun, console) }
    let files = try TestFiles.found(at: paths.isEmpty ? ["."] : paths, below: directory)
    let signals = TestSignals()
    if let fault = signals.start() {
      throw CommandFailure(.broken, fault.message, help: fault.help)
    }
    let configuration = UserConfiguration.read()
    if configuration.isRejected {
      throw CommandFailure(.rejected, configuration.diagnostics)
    }
    var loaded: [LoadedTestFile] = []
    var rejected: [TestReport.Rejection] = []
    for path in files {
      do throws(FileReadError) {
        loaded.append(try LoadedTestFile(contentsOf: path, runners: configuration.runners))
      } catch {
        rejected.append(try unreadable(path, error))
      }
    }
    if format == .text { for file in rejected { console.errors.write(file.diagnostics) } }
    var results: [TestFileResult] = []
    for file in loaded where signals.first == nil {
      guard file.isRunnable else {
        rejected.append(.init(path: file.path, diagnostics: file.diagnostics))
        if format == .text { console.errors.write(file.diagnostics) }
        continue
      }
      let result = file.run(seed: seed, stop: signals.stop)
      results.append(result)
      guard format == .text else { continue }
      console.output.write(TestReport.text(of: result) { console.output.rendered($0) })
    }
    let report = TestReport(results, rejected: rejected)
    switch format {
    case .text: console.output.write(report.summary)
    case .json: console.output.write(report.json)
    case .junit: console.output.write(report.junit)
    }
    if let signal = signals.first { return .signal(signal.rawValue) }
    if !rejected.isEmpty { return .rejected }
    return report.failedCount > 0 ? .failure : .success
  }

  /// A file that cannot be read.
  ///
  /// - Throws: A failure if it is an operand, and there is none of that name.
  private func unreadable(
    _ path: String, _ error: FileReadError
  ) throws(CommandFailure) -> TestReport.Rejection {
    guard error.error != .notFound || !paths.contains(path) else {
      throw CommandFailure(.usage, "\"\(path)\" \(error.message)")
    }
    return TestReport.Rejection(path: path, because: error)
  }
}

/// Cases from recorded runs.
extension TestCommand {
  /// Writes a test file with one case, to the operand or to standard output.
  private func writeCase(
    from name: String, _ console: Console
  ) throws(CommandFailure) -> ExitCode {
    guard paths.count <= 1 else {
      throw CommandFailure(
        .usage, "one run makes one test file, but several are named",
        help: "write weft test --from-run RUN FILE")
    }
    let runs = try RecordedRuns(in: place)
    let run = try runs.chosen(name)
    var records: [RunRecord] = []
    let detail: RunDetail
    do throws(RunFolderError) {
      detail = try runs.state.detail(of: run) { records.append($0) }
    } catch {
      throw CommandFailure(error)
    }
    let planned = RecordedPlan(run, detail.recorded.opening, in: runs.state)
    guard let opening = detail.recorded.opening, let workflow = opening.file,
      workflow != "<stdin>", let plan = planned.plan
    else {
      throw CommandFailure(
        .usage, "the workflow of run \(run) is not recorded in a file",
        help: "run it from a file: weft run FILE")
    }
    guard ![.interrupted, .running, .damaged].contains(detail.state) else {
      throw CommandFailure(
        .usage, "run \(run) has no end: it is still running, or its engine was killed",
        help: "a case needs a run that ended or waits; weft resume \(run) ends it")
    }
    let path = paths.first
    var recorded = RecordedCase(
      of: run, plan, detail.recorded,
      at: TestFiles.path(
        of: workflow, in: opening.directory, recordedIn: runs.state.absolutePath, from: path ?? ""))
    for record in records { recorded.take(record) }
    let text: String
    do throws(RecordedCase.Obstacle) {
      text = try recorded.text(at: path ?? "", of: planned.definition ?? plan)
    } catch {
      throw CommandFailure(.usage, "run \(run) cannot be a case: \(error.sentence)")
    }
    guard let path else {
      console.output.write(text)
      return .success
    }
    try NewFile.write(text, to: path, command: "weft test --from-run RUN FILE")
    console.output.write("wrote \(path); to run it: weft test \(path)\n")
    return .success
  }
}

/// The output formats of `weft test`.
enum TestFormat: String, CaseIterable {
  case text, json, junit
}

/// Test files on the command line: named, or found in directories.
enum TestFiles {
  static let suffix = ".test.json"

  /// Returns the files in the order of the operands, and in a directory in the order of names; each once.
  static func found(
    at paths: [String], below directory: String?
  ) throws(CommandFailure) -> [String] {
    var files: [String] = []
    for path in paths {
      guard let root = try? Directory(path) else {
        if !files.contains(path) { files.append(path) }
        continue
      }
      let found = try testFiles(in: root, at: path)
      guard !found.isEmpty else {
        throw CommandFailure(
          .usage, "no test file is in \"\(path)\"",
          help: "their names end in \(suffix); weft init --test FILE writes a first one")
      }
      files += found.filter { !files.contains($0) }
    }
    return files
  }

  /// The path of a workflow, relative to the folder of a test file.
  ///
  /// - Parameters:
  ///   - directory: The one that the path of the workflow was relative to.
  ///   - record: The absolute path of the state directory. If the project was moved, `directory` is not beside or below
  ///     it, and the workflow is in the current directory.
  ///   - test: Relative to the current directory; empty for standard output, as if that were a file there.
  static func path(
    of workflow: String, in directory: String?, recordedIn record: String, from test: String
  ) -> String {
    if workflow.hasPrefix("/") { return workflow }
    let here = (try? FileSystem.currentDirectory()) ?? "."
    let project = record.lastIndex(of: "/").map { record[...$0] } ?? "/"
    var start = directory ?? here
    if !"\(start)/".hasPrefix(project), WorkflowLookup.isFile(workflow) { start = here }
    if test.hasPrefix("/") || test.contains("..") { return "\(start)/\(workflow)" }
    let names = { (path: String) in path.split(separator: "/").filter { $0 != "." } }
    var folders = test.isEmpty ? names(here)[...] : names("\(here)/\(test)").dropLast()
    var target = names("\(start)/\(workflow)")[...]
    while let folder = folders.first, folder == target.first, target.count > 1 {
      folders.removeFirst()
      target.removeFirst()
    }
    return (folders.map { _ in ".." } + target.map(String.init)).joined(separator: "/")
  }

  /// The test files in a directory and those below; hidden directories and links are left alone.
  private static func testFiles(
    in root: Directory, at path: String
  ) throws(CommandFailure) -> [String] {
    var found: [String] = []
    let isShown = { (path: [String]) in path.last?.hasPrefix(".") == false }
    let choice = Directory.Choice(
      entersDirectory: isShown, visits: { isShown($0) && $0.last?.hasSuffix(suffix) == true },
      repairsNames: true)
    do {
      try root.walk(choice) { found.append($0.path.joined(separator: "/")) }
    } catch {
      throw CommandFailure(.usage, "\"\(path)\" cannot be searched: \(error.message)")
    }
    let prefix = path == "." ? "" : path.hasSuffix("/") ? path : path + "/"
    return found.map { prefix + $0 }
  }
}

/// Signals that end `weft test`, as they end `weft run`: the first one cancels the current case, the second kills what
/// is real, the third exits at once.
final class TestSignals: Sendable {
  private struct State {
    var interruptions = Interruptions()
    var first: Signal?
  }

  let stop = StopSwitch()
  private let state = Mutex(State())

  /// Starts listening; must be called before the program creates its first thread.
  ///
  /// - Returns: The error if it cannot.
  func start() -> CommandError? {
    do {
      _ = try SignalListener.start { [self] in end(for: $0) }
      return nil
    } catch {
      return CommandError("cannot listen for signals: \(error)")
    }
  }

  /// The first signal, which determines the exit code.
  var first: Signal? { state.withLock { $0.first } }

  private func end(for signal: Signal) {
    let (action, first) = state.withLock { state in
      let first = state.first ?? signal
      state.first = first
      return (state.interruptions.next(signal, at: MonotonicClock.now), first)
    }
    switch action {
    case nil: break
    case .cancel: stop.request(.graceful)
    case .kill: stop.request(.now)
    case .leaveOnceClosed, .leave: ThisProcess.exit(ExitCode.signal(first.rawValue).status)
    }
  }
}
