import WeftDiagnostics
package import WeftEvents
package import WeftJSON
import WeftPlatform

/// The state of a workflow as a store keeps it: its values by name, as JSON.
package struct KeptState: Sendable, Hashable {
  package var values: JSONObject
  /// The run that has kept them; `nil` if an older version of the program wrote them.
  package var run: RunID?

  package init(_ values: JSONObject = [:], of run: RunID? = nil) {
    self.values = values
    self.run = run
  }

  /// - Returns: `nil` for damaged bytes.
  package init?(_ bytes: [UInt8]) {
    let (root, problems) = JSONReader.read(SourceFile(path: "", bytes: bytes), beside: nil)
    guard let root, !problems.contains(where: \.isError), case .object(let file) = JSONValue(root),
      case .object(let values)? = file["state"]
    else { return nil }
    self.values = values
    if case .string(let run)? = file["run"] { self.run = RunID(validating: run) }
  }

  /// - Parameter workflow: For readers of the file.
  package func bytes(of workflow: WorkflowKey) -> [UInt8] {
    var writer = JSONWriter(.pretty)
    var file: JSONObject = ["workflow": .string(workflow.description)]
    if let run { file["run"] = .string(run.text) }
    file["state"] = .object(values)
    writer.value(.object(file))
    return Array((writer.text + "\n").utf8)
  }
}

/// The state of workflows, in one file for each: `state/HASH.json`. Files are replaced as a whole and survive a power
/// loss. If two runs of a workflow succeed at the same time, the values of the later one are kept.
extension StateDirectory {
  func state(of workflow: WorkflowKey) throws(RunFolderError) -> [UInt8]? {
    do throws(UnsafePathError) {
      let folder = try directory.directory(StateDirectory.stateName, makes: false)
      return try folder.bytes(of: stateFile(of: workflow), limit: StateDirectory.stateLimit)
    } catch {
      if error.error == .notFound { return nil }
      throw .place(error)
    }
  }

  func keep(state bytes: [UInt8], of workflow: WorkflowKey) throws(RunFolderError) {
    do throws(UnsafePathError) {
      let folder = PrivateFolder(try directory.directory(StateDirectory.stateName, makes: true))
      try folder.replace(stateFile(of: workflow), with: bytes, surviving: true)
    } catch {
      throw .place(error)
    }
  }

  private func stateFile(of workflow: WorkflowKey) -> String {
    StateDirectory.hash(of: workflow, in: path) + ".json"
  }

  private static let stateName = "state"
  private static let stateLimit = 64 << 20

  /// Returns the path of the file with a workflow's state in a state directory.
  static func statePath(of workflow: WorkflowKey, in path: String) -> String {
    "\(path)/\(stateName)/\(hash(of: workflow, in: path)).json"
  }
}
