package import WeftExecution
import WeftPlatform

extension RunFolder {
  package static let reportName = "report.json"

  /// Writes what is known of the run when it has ended, as the event `run.snapshot` has it; in place of what an
  /// earlier engine has written.
  package func write(_ report: RunReport) throws(RunFolderFault) {
    let snapshot = RunEvent(
      sequence: 1, elapsed: report.elapsed, kind: .snapshot(report))
    var json = EventJSON(version: WeftVersion.current)
    var bytes: [UInt8] = []
    json.append([snapshot], to: &bytes)
    let name = ".new-\(RunFolder.reportName)"
    do throws(UnsafePlace) {
      try directory.remove(name)
      try directory.write(bytes, to: name, surviving: false)
      try directory.rename(name, to: RunFolder.reportName)
    } catch {
      throw .place(error)
    }
  }
}
