import Weft
import WeftDiagnostics
import WeftEvents
import WeftPlatform
import WeftReporting
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
    if let named: ReportFormat = try parsed.word(of: .reportFormat) {
      format = named
    } else {
      format = try ReportCommand.format(of: self.file, parsed.command)
    }
    place = RecordDirectory(parsed)
  }

  private static func format(
    of file: String?, _ command: CommandName
  ) throws(UsageError) -> ReportFormat {
    guard let file else { return .html }
    if let format = ReportFormat(ending: file) { return format }
    throw .wrongValue(
      of: "\"-o\"", found: file, wanted: "a file whose name ends with \(ReportFormat.endings)",
      help: "or name the format: --format junit -o \(ShellWord.quoted(file))", command)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let runs = try RecordedRuns(in: place)
    let run = try runs.chosen(run)
    let target = try file.map { file throws(CommandFailure) in
      try ReportTarget(format, file).checked()
    }
    let report = try ReportedRun(reading: run, in: runs.state, called: place.words(for: run))
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
  convenience init(reading run: RunID, in state: StateDirectory, called words: String)
    throws(CommandFailure)
  {
    do { try self.init(run, in: state, called: words) } catch { throw CommandFailure(error) }
  }
}

extension ReportFormat {
  /// `.html, .md, .xml, trace.json or .csv`.
  fileprivate static var endings: String {
    let all = allCases.map(\.ending)
    return all.dropLast().joined(separator: ", ") + " or " + all[all.count - 1]
  }
}

/// The reports that `--report` asks for.
struct ReportTargets: Sendable, Hashable {
  private var targets: [ReportTarget] = []

  init(_ parsed: ParsedArguments) throws(UsageError) {
    for value in parsed.values(of: .report) {
      let target = try ReportTargets.target(value, parsed.command)
      targets.append(target)
    }
  }

  private static func target(
    _ value: String, _ command: CommandName
  ) throws(UsageError) -> ReportTarget {
    let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, let format = ReportFormat(rawValue: String(parts[0])), !parts[1].isEmpty,
      parts[1] != "-"
    {
      return ReportTarget(format, String(parts[1]))
    }
    if parts.count == 2, parts[1] == "-", ReportFormat(rawValue: String(parts[0])) != nil {
      throw .wrongValue(
        of: "\"\(Option.report.name)\"", found: value,
        wanted: "a file: standard output has the messages of the run",
        help: "name a file, or use \"weft report --format \(parts[0])\" after the run", command)
    }
    if let format = ReportFormat(ending: value) { return ReportTarget(format, value) }
    let formats = ReportFormat.allCases.map(\.rawValue)
    let nearest =
      parts.count == 2 ? NearestName(formats).nearest(to: String(parts[0])).asSuggestion : nil
    throw .wrongValue(
      of: "\"\(Option.report.name)\"", found: value,
      wanted: "a file whose name ends with \(ReportFormat.endings), or FORMAT=FILE",
      help: nearest
        ?? (parts.count == 2 && !parts[1].isEmpty
          ? "\"\(parts[0])\" is not a format; " : "")
          + "FORMAT is one of \(formats.joined(separator: ", ")): \(Option.report.name) junit=results",
      command)
  }

  /// The paths of their files.
  var paths: [String] { targets.map(\.path) }

  /// Returns the targets with absolute paths.
  ///
  /// - Throws: If a report could not be written.
  func checked(isRecorded: Bool) throws(CommandFailure) -> ReportTargets {
    var checked = self
    for index in targets.indices {
      let target = try targets[index].checked()
      if checked.targets[..<index].contains(where: target.replaces) {
        throw CommandFailure(
          .usage, "two reports are to be written to \"\(target.name)\"",
          help: "name another file for one of them")
      }
      checked.targets[index] = target
    }
    if !isRecorded, !targets.isEmpty {
      throw CommandFailure(
        .usage, "a report is made from the journal, but --record none writes none",
        help: "omit --record none, or omit --report")
    }
    return checked
  }

  /// Writes the reports about a run that has ended or was suspended.
  ///
  /// - Parameter directory: The path of the state directory from here, if it is not that of `place`.
  /// - Returns: The exit code of the run, unless a report could not be written.
  func write(
    _ run: RunID, _ place: RecordDirectory, in directory: String? = nil, _ console: Console,
    after code: ExitCode
  ) -> ExitCode {
    guard !targets.isEmpty else { return code }
    var faults: [CommandError] = []
    do throws(CommandFailure) {
      let state: StateDirectory
      do { state = try StateDirectory(directory ?? place.path, makes: false) } catch {
        throw CommandFailure(error)
      }
      let report = try ReportedRun(reading: run, in: state, called: place.words(for: run))
      for target in targets {
        do throws(CommandError) { try target.write(report) } catch { faults.append(error) }
      }
    } catch {
      faults.append(error.commandError ?? CommandError("the run's record cannot be read"))
    }
    for fault in faults { console.report(fault) }
    if case .signal = code { return code }
    return faults.isEmpty ? code : .broken
  }
}

/// A file that a report is written to.
struct ReportTarget: Sendable, Hashable {
  let format: ReportFormat
  /// As given, for messages.
  let name: String
  private(set) var path: String

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

  /// Whether it would replace another report.
  func replaces(_ other: ReportTarget) -> Bool { path == other.path && !isSpecial }

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
    let reason: String
    do throws(SystemError) {
      let file = try Descriptor.creating(path, .orEmptied)
      do throws(WriteError) { return try file.writeAll(bytes) } catch { reason = error.message }
    } catch {
      reason = "\(error)"
    }
    throw CommandError("cannot write the report to \"\(name)\": \(reason)")
  }
}

extension FileStamp {
  fileprivate var isSpecial: Bool { if case .file = kind { false } else { true } }
}
