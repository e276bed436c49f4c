import WeftPlatform

/// Step durations of earlier runs, in one file per workflow: `durations/1/HASH`.
///
/// They are derived from runs and never trusted: a missing, damaged, oversized or foreign file counts as empty, and a
/// failed write is ignored. Files are replaced by renaming. If two runs of a workflow end at the same time, only the
/// later one's measurements may be kept.
extension StateDirectory {
  func durations(of workflow: WorkflowKey) -> [UInt8]? {
    durationFolder(makes: false)?.read(fileName(of: workflow), limit: StateDirectory.durationBytes)
  }

  func keep(durations bytes: [UInt8], of workflow: WorkflowKey) {
    guard bytes.count <= StateDirectory.durationBytes, let folder = durationFolder(makes: true)
    else { return }
    let name = fileName(of: workflow)
    if !folder.has(name) { makeRoom(in: folder) }
    try? folder.replace(name, with: bytes)
  }

  /// Keeps the number of workflows bounded by removing those that ran longest ago.
  private func makeRoom(in folder: PrivateFolder) {
    let hourAgo = WallClock.now.nanoseconds / 1_000_000_000 - 3600
    folder.removeUnfinished(in: StateDirectory.durationPart, before: hourAgo)
    let known = folder.entries(in: StateDirectory.durationPart)
    guard known.count >= StateDirectory.workflowLimit else { return }
    let oldest = known.sorted { $0.lastUse < $1.lastUse }
    for entry in oldest.prefix(known.count - StateDirectory.workflowLimit + 1) {
      folder.remove(entry.name)
    }
  }

  private func durationFolder(makes: Bool) -> PrivateFolder? {
    (try? directory.directory("durations", makes: makes)).map(PrivateFolder.init)
  }

  private func fileName(of workflow: WorkflowKey) -> String {
    let key = workflow.text(storedIn: path)
    return "\(StateDirectory.durationPart)/\(SHA256.text(of: SHA256.digest(of: Array(key.utf8))))"
  }

  /// The version of the format.
  private static let durationPart = "1"
  /// The maximum number of workflows.
  static let workflowLimit = 200
  /// Enough for more than 400,000 steps.
  static let durationBytes = 32 << 20
}
