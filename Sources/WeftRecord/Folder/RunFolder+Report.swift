import WeftDiagnostics
package import WeftEvents
import WeftJSON
package import WeftPlanning
import WeftPlatform

extension RunFolder {
  package static let reportName = "report.json"

  /// Whether there is a complete report.
  package var hasReport: Bool {
    guard let bytes = try? directory.bytes(of: RunFolder.reportName, limit: 1 << 30),
      bytes.last == UInt8(ascii: "\n")
    else { return false }
    let (root, diagnostics) = JSONReader.read(
      SourceFile(path: "", bytes: bytes), limits: JSONLimits(bytes: 1 << 30, problems: 1),
      beside: nil)
    return root?.kind == .object && !diagnostics.contains(where: \.isError)
  }

  /// Rebuilds the report of the last engine from the journal; `nil` if the run has not ended.
  ///
  /// - Parameter plan: The plan of the run.
  package func recordedReport(of plan: Plan) throws(RunFolderError) -> RunReport? {
    var report = RecordedReport(of: plan)
    let contents = try contents { report.apply($0) }
    if let damage = contents.damage { throw .damaged(damage) }
    return report.value.flatMap { $0.end == nil ? nil : $0 }
  }

  /// Writes the report of a run whose engine ended before it could.
  ///
  /// - Parameter plan: Called only if the report is missing or damaged.
  /// - Returns: Whether it was.
  @discardableResult
  package func writeMissingReport(
    of plan: () throws(RunFolderError) -> Plan
  ) throws(RunFolderError) -> Bool {
    guard !hasReport else { return false }
    if let report = try recordedReport(of: try plan()) { try write(report) }
    return true
  }

  /// Writes the report of the ended run, in the form of the event `run.snapshot`; replaces that of a previous engine.
  package func write(_ report: RunReport) throws(RunFolderError) {
    let snapshot = RunEvent(
      sequence: 1, elapsed: report.elapsed, kind: .snapshot(report))
    var json = EventJSON(version: WeftVersion.current)
    var bytes: [UInt8] = []
    json.append([snapshot], to: &bytes)
    let name = ".new-\(RunFolder.reportName)"
    do throws(UnsafePathError) {
      try directory.remove(name)
      try directory.write(bytes, to: name, surviving: false)
      try directory.rename(name, to: RunFolder.reportName)
    } catch {
      throw .place(error)
    }
  }
}
