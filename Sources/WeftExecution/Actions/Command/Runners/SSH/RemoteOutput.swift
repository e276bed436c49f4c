import WeftDefinition
import WeftEvents
import WeftPlatform

/// The output of a program on a host: passes on what the program wrote, without the reports of its
/// ``RemoteSupervisor``.
///
/// Belongs to the thread that runs `ssh`.
final class RemoteOutput<Sink: ProgramOutput>: ProgramOutput {
  /// The last report of the supervisor.
  enum Phase: Hashable {
    /// Nothing yet: the host may not have been reached.
    case silent
    case running
    case over(RemoteEnd)
  }

  private(set) var phase = Phase.silent
  /// The file with the program's outputs, once it has ended.
  var outputs: [UInt8] { phase.end == nil ? [] : pending }
  /// The end of what came before the first report: from `ssh` itself, and from scripts of a login shell.
  var preamble: [UInt8] { outputPreamble + errorPreamble }

  private let sink: Sink
  private let mark: [UInt8]
  private var outputPreamble: [UInt8] = []
  private var errorPreamble: [UInt8] = []
  /// Whether the report in the error stream has come. It says only where the program's own errors begin, since the two
  /// streams arrive independently.
  private var errorsHaveBegun = false
  /// Bytes that may be part of a report, and everything after the last one.
  private var pending: [UInt8] = []

  init(_ sink: Sink, word: String) {
    self.sink = sink
    mark = [0] + Array("WEFT\(word) ".utf8)
  }

  var alarm: Duration? { sink.alarm }
  func timePassed(until now: Duration) { sink.timePassed(until: now) }

  func take(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration) {
    if stream == .errors { return takeErrors(bytes, at: now) }
    if phase == .running, pending.isEmpty, !bytes.contains(0) {
      return sink.take(bytes, from: stream, at: now)
    }
    pending += bytes
    advance(at: now)
  }

  private func takeErrors(_ bytes: UnsafeRawBufferPointer, at now: Duration) {
    if errorsHaveBegun { return sink.take(bytes, from: .errors, at: now) }
    errorPreamble += bytes
    let report = mark + Array("run\n".utf8)
    let start = errorPreamble.indices.first { errorPreamble[$0...].starts(with: report) }
    guard let start else { return errorPreamble.keepLast(Self.preambleLimit) }
    errorsHaveBegun = true
    let rest = errorPreamble[(start + report.count)...]
    if !rest.isEmpty { rest.withUnsafeBytes { sink.take($0, from: .errors, at: now) } }
    errorPreamble.removeSubrange(start...)
  }

  /// Passes on what is not part of a report, and reads the reports.
  private func advance(at now: Duration) {
    while phase.end == nil {
      let start = pending.indices.first { pending[$0] == 0 && mayBeMark(at: $0) } ?? pending.count
      pass(start, at: now)
      guard pending.count >= mark.count, let end = pending.firstIndex(of: 0x0a) else { return }
      read(String(decoding: pending[mark.count..<end], as: UTF8.self))
      pending.removeSubrange(...end)
    }
  }

  private func mayBeMark(at index: Int) -> Bool {
    pending[index...].prefix(mark.count).elementsEqual(mark.prefix(pending.count - index))
  }

  /// Passes on the first bytes.
  private func pass(_ count: Int, at now: Duration) {
    guard count > 0 else { return }
    pending.withUnsafeBytes { bytes in
      let piece = UnsafeRawBufferPointer(rebasing: bytes[..<count])
      guard phase == .silent else { return sink.take(piece, from: .output, at: now) }
      outputPreamble += piece
      outputPreamble.keepLast(Self.preambleLimit)
    }
    pending.removeFirst(count)
  }

  private func read(_ report: String) {
    if report == "run" {
      phase = .running
    } else if let end = RemoteEnd(report) {
      phase = .over(end)
    }
  }

  private static var preambleLimit: Int { 4096 }
}

extension [UInt8] {
  fileprivate mutating func keepLast(_ count: Int) { removeFirst(Swift.max(0, self.count - count)) }
}

extension RemoteOutput.Phase {
  var end: RemoteEnd? {
    if case .over(let end) = self { end } else { nil }
  }
}

extension ProgramExit {
  /// The end of a program as a shell's `$?`, where 128 and more may be a signal or a code.
  ///
  /// - Parameter isScript: Whether the program is the shell of a script, which itself reports the signals of its commands
  ///   as codes.
  init(shellStatus status: Int, isScript: Bool) {
    let name = Signal(rawValue: Int32(clamping: status - 128)).name
    self = !isScript && SignalName.all.contains(name) ? .signal(name) : .code(status)
  }
}
