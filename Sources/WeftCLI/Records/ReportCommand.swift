import Weft
import WeftEvents
import WeftPlatform
import WeftReports

/// `weft report`: writes a report about a recorded run.
struct ReportCommand: Subcommand {
  /// An ID or its beginning; `nil` for the latest run.
  private let run: String?
  private let format: ReportFormat
  /// `nil` for standard output.
  private let file: String?
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) throws(UsageError) {
    run = parsed.operands.first
    let file = parsed.value(of: .reportOutput)
    self.file = file == "-" ? nil : file
    let named: ReportFormat? = try parsed.word(of: .reportFormat)
    format = named ?? self.file.flatMap { ReportFormat(ending: $0) } ?? .html
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let runs = try RecordedRuns(in: place)
    let run = try runs.chosen(run)
    let target = try file.map { file throws(CommandFailure) in
      try ReportTarget(format, file).checked()
    }
    let report = try ReportedRun(run, in: runs.state, called: place.words(for: run))
    if let target {
      do { try target.write(report) } catch {
        throw CommandFailure(.broken, error.message, help: error.help)
      }
    } else {
      console.output.write(report.rendered(as: format))
    }
    if let damage = report.detail.damage { console.report(CommandError(damage.message)) }
    return report.isDamaged ? .broken : .success
  }
}

extension ReportedRun {
  /// Reads everything that a run's folder holds, regardless of its lock.
  init(_ run: RunID, in state: StateDirectory, called words: String) throws(CommandFailure) {
    var builder = TimelineBuilder()
    let (detail, logs): (RunDetail, RecordedLogs)
    do throws(RunFolderError) {
      detail = try state.detail(of: run) { builder.apply($0) }
      logs = try RecordedLogs(of: run, in: state)
    } catch {
      throw CommandFailure(error)
    }
    let recorded = RecordedPlan(run, detail.recorded.lastOpening, in: state)
    let history = recorded.plan.flatMap { WorkflowKey($0) }.map {
      FileRunStore(directory: state.path).history(of: $0)
    }
    self.init(
      detail, builder, recorded.plan, mask: recorded.secrets.mask,
      history: history ?? DurationHistory(), words: words,
      readEnd: { step, limit in
        logs.end(of: step, atMost: limit).map { LogEnd($0.bytes, isWhole: $0.isWhole) }
      })
  }
}

/// A file that a report is written to.
struct ReportTarget: Sendable, Hashable {
  let format: ReportFormat
  /// As given, for messages.
  let name: String
  private var path: String

  init(_ format: ReportFormat, _ name: String) {
    (self.format, self.name) = (format, name)
    path = name
  }

  /// Returns the target with an absolute path, so that a change of directory does not move it.
  ///
  /// - Throws: If no file can be created there.
  func checked() throws(CommandFailure) -> ReportTarget {
    var target = self
    target.path = StateDirectory.absolute(path)
    if FileSystem.isDirectory(target.path) {
      throw target.refusal("it is a directory", help: "name a file in it: \(name)/report.html")
    }
    guard !target.isSpecial else { return target }
    do { _ = try TemporaryFile(beside: target.path) } catch {
      throw target.refusal("\(error)", help: "create its folder first, or name another file")
    }
    return target
  }

  private func refusal(_ reason: String, help: String) -> CommandFailure {
    CommandFailure(.usage, "cannot write the report to \"\(name)\": \(reason)", help: help)
  }

  /// Whether it is a device or a pipe, which is written to instead of being replaced.
  private var isSpecial: Bool { (try? FileStamp(at: path)).map(\.isSpecial) ?? false }

  /// Replaces the file: other processes see the old report or the new one.
  func write(_ run: ReportedRun) throws(CommandError) {
    let bytes = run.rendered(as: format)
    if isSpecial { return try write(through: bytes) }
    do throws(SystemError) {
      let file = try TemporaryFile(beside: path)
      try bytes.withRawBytes { (bytes) throws(SystemError) in try file.write(bytes) }
      try file.commit(as: path)
    } catch {
      throw CommandError("cannot write the report to \"\(name)\": \(error)")
    }
  }

  private func write(through bytes: [UInt8]) throws(CommandError) {
    do { try Descriptor.creating(path, .orEmptied).writeAll(bytes) } catch {
      throw CommandError("cannot write the report to \"\(name)\": \(error)")
    }
  }
}

extension FileStamp {
  fileprivate var isSpecial: Bool { if case .file = kind { false } else { true } }
}
