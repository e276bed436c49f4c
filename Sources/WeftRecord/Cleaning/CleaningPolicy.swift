public import WeftEvents
import WeftPlatform

/// Decides which recorded runs are removed.
///
/// A run that could still be resumed is removed only if the policy says so. A run held by an engine, or a folder that
/// is not a run's, is never removed.
public struct CleaningPolicy: Sendable, Hashable {
  /// The facts about one run.
  public struct Candidate: Sendable, Hashable {
    public package(set) var run: RunID
    /// Whether its files may be removed.
    public package(set) var retention: RunRetention
    /// The size of its files.
    public package(set) var bytes: Int

    package init(_ run: RunID, _ retention: RunRetention, bytes: Int = 0) {
      self.run = run
      self.retention = retention
      self.bytes = bytes
    }
  }

  /// The number of newest runs to keep; `nil` for no limit.
  public var count: Int?
  /// The maximum time since the start of a run; `nil` for no limit.
  public var age: Duration?
  /// The maximum size of all runs together. The oldest are removed first; the newest always stays. `nil` for
  /// no limit.
  public var bytes: Int?
  /// Whether runs that could still be resumed are removed like those that have ended.
  public var removesUnfinished: Bool

  /// The number of runs kept by default.
  public static let defaultCount = 50

  /// Creates a policy; without any limit it removes nothing.
  public init(
    count: Int? = nil, age: Duration? = nil, bytes: Int? = nil, removesUnfinished: Bool = false
  ) {
    self.count = count
    self.age = age
    self.bytes = bytes
    self.removesUnfinished = removesUnfinished
  }

  /// The runs to remove and to spare.
  package struct Decision: Sendable, Hashable {
    /// The oldest first.
    package var removed: [Candidate] = []
    /// The runs that would be removed if they could not be resumed.
    package var resumable: [Candidate] = []
  }

  /// - Parameter runs: All existing runs, the newest first.
  package func decision(on runs: [Candidate], now: WallTime) -> Decision {
    var decision = Decision()
    var total = 0
    for (index, run) in runs.enumerated() {
      let isTooMany = count.map { index >= $0 } ?? false
      let isTooOld = age.map { isOlder(run.run, than: $0, now) } ?? false
      let isTooMuch = bytes.map { index > 0 && total + run.bytes > $0 } ?? false
      guard isTooMany || isTooOld || isTooMuch else {
        total += run.bytes
        continue
      }
      switch run.retention {
      case .ended: decision.removed.append(run)
      case .unfinished where removesUnfinished: decision.removed.append(run)
      case .unfinished:
        decision.resumable.append(run)
        total += run.bytes
      case .held, .unknown: total += run.bytes
      }
    }
    decision.removed.reverse()
    return decision
  }

  private func isOlder(_ run: RunID, than age: Duration, _ now: WallTime) -> Bool {
    guard let start = run.startedAt else { return false }
    return now.since(start) > age
  }
}

/// Whether the files of a run may be removed.
public enum RunRetention: Sendable, Hashable {
  /// Its end is recorded.
  case ended
  /// It waits for approval or was interrupted, and could still be resumed.
  case unfinished
  /// An engine holds it.
  case held
  /// It is not a run's folder, or this version cannot read it, so the loss is unknown.
  case unknown(reason: String)
}

extension StateDirectory {
  /// Reads only the ends of a run's journal; `nil` if the run no longer exists.
  package func retention(of run: RunID) -> RunRetention? {
    do throws(RunFolderError) {
      return try StateDirectory.retention(of: run, in: try folder(of: run))
    } catch {
      if case .unknown = error { return nil }
      // Another process has removed it meanwhile.
      if error.concernsMissingRun, !runs.has(run.text) { return nil }
      return .unknown(reason: error.message)
    }
  }

  private static func retention(
    of run: RunID, in folder: PrivateDirectory
  ) throws(RunFolderError) -> RunRetention {
    if try RunFolder.isHeld(folder) { return .held }
    return try idleState(of: run, in: folder)
  }

  /// Returns the standing of a run that no other process holds.
  static func idleState(
    of run: RunID, in folder: PrivateDirectory
  ) throws(RunFolderError) -> RunRetention {
    let journal = try folder.journal(of: run)
    guard let ends = try journal.ends() else {
      throw .missingOpening(run, journal: journal.name, bytes: journal.byteCount)
    }
    return ends.end == nil ? .unfinished : .ended
  }
}
