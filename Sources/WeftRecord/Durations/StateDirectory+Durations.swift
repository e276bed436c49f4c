import WeftPlatform

/// How long steps took, a file for each workflow: `durations/1/HASH`.
///
/// It follows from runs, and is never trusted: what is missing, damaged, too large, or not this user's is as if
/// nothing was known, and what cannot be written is lost. Files come whole by a rename. Of two runs of a workflow
/// that end in the same moment the later one's may be all that is kept.
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

  /// Of which workflows it is known is bounded: those go that were run longest ago.
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
    let key = workflow.text(keptIn: path)
    return "\(StateDirectory.durationPart)/\(SHA256.text(of: SHA256.digest(of: Array(key.utf8))))"
  }

  /// Tells the format.
  private static let durationPart = "1"
  /// Of how many workflows it is known.
  static let workflowLimit = 200
  /// More than 400,000 steps need.
  static let durationBytes = 32 << 20
}
