package import WeftDefinition
import WeftDiagnostics
package import WeftEvents
package import WeftExecution
package import WeftPlanning
import WeftPlatform

extension RunFolder {
  /// The log folder; `nil` if it is not available.
  package var logs: LogFolder? {
    (try? directory.directory(RunFolder.logsName, makes: true)).map(LogFolder.init)
  }
}

extension RunFolder.Contents {
  /// Collects the contents of a new run folder for a plan.
  ///
  /// - Parameters:
  ///   - excluded: The steps skipped by the caller.
  ///   - rerun: The steps to rerun although a previous engine completed them.
  ///   - secrets: The values that must not be written.
  package init(
    of plan: Plan, _ run: RunID, _ inputs: InputValues, excluding excluded: [Int] = [],
    rerunning rerun: RerunSelection = RerunSelection(), hiding secrets: RunSecrets = RunSecrets()
  ) {
    secrets.add(secretsIn: inputs)
    let sources = plan.files.compactMap(\.workflow.source.value)
    var nested: [SourceFile] = []
    // Several steps may run the same file.
    for file in sources.dropFirst() where !nested.contains(where: { $0.path == file.path }) {
      nested.append(file)
    }
    let hash = { (bytes: [UInt8]) in SHA256.text(of: SHA256.digest(of: bytes)) }
    let opening = RecordOpening(
      run: run, workflow: plan.workflow.name, file: sources.first?.path,
      hash: sources.first.map { hash($0.bytes) },
      nested: nested.map { RecordedFile(path: $0.path, hash: hash($0.bytes)) },
      directory: try? FileSystem.currentDirectory(),
      inputs: inputs.entries.map { entry in
        ReportedOutput(name: entry.name.text, value: entry.isSecret ? .none : .some(entry.value))
      },
      excluded: excluded.map { plan.steps[$0].address }, rerun: rerun.addresses(in: plan),
      cookie: EngineCookie())
    self.init(
      workflow: sources.first?.bytes, nested: nested.map(\.bytes),
      opening: opening.masked(by: secrets.mask))
  }
}
