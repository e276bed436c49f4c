import WeftDefinition
import WeftDiagnostics
package import WeftEvents
public import WeftPlanning
import WeftPlatform

/// Identifies a workflow across runs: by the path of its file, or by its name if it has no file.
///
/// A modified file is the same workflow.
public struct WorkflowKey: Sendable, Hashable, CustomStringConvertible {
  enum Place: Sendable, Hashable {
    /// An absolute path without `.` and `..`.
    case file(String)
    case name(String)
  }

  let place: Place

  /// - Returns: `nil` for a workflow with neither file nor name, or read from standard input without a name.
  public init?(_ plan: Plan) {
    self.init(
      file: plan.workflow.source.value?.path, name: plan.workflow.name,
      below: try? FileSystem.currentDirectory())
  }

  /// The workflow of a recorded run.
  package init?(_ opening: RecordOpening) {
    self.init(file: opening.file, name: opening.workflow, below: opening.directory)
  }

  /// - Parameter directory: The base of a relative path.
  init?(file: String?, name: String?, below directory: String?) {
    if let file, WorkflowKey.isPath(file), let path = WorkflowKey.path(file, below: directory) {
      place = .file(path)
    } else if let name {
      place = .name(name)
    } else {
      return nil
    }
  }

  /// The unique text form: `file /srv/app/release.json`.
  public var description: String {
    switch place {
    case .file(let path): "file \(path)"
    case .name(let name): "name \(name)"
    }
  }

  /// Returns the text form for stores in a directory that moves with its surroundings, as a project moves with its
  /// `.weft`: files below its parent directory are identified by their relative path.
  func text(storedIn directory: String) -> String {
    guard case .file(let path) = place,
      let around = WorkflowKey.path(directory + "/..", below: try? FileSystem.currentDirectory()),
      path.hasPrefix(around == "/" ? "/" : around + "/")
    else { return description }
    return "below \(path.dropFirst(around == "/" ? 1 : around.utf8.count + 1))"
  }

  /// Standard input and pipes made by a shell cannot be found again.
  private static func isPath(_ file: String) -> Bool {
    !file.isEmpty && file != "-" && file != "<stdin>" && !file.hasPrefix("/dev/")
      && !file.hasPrefix("/proc/")
  }

  /// Returns the absolute path, resolving `.` and `..` textually; `nil` if `directory` is needed but unknown.
  static func path(_ path: String, below directory: String?) -> String? {
    guard let whole = path.hasPrefix("/") ? path : directory.map({ "\($0)/\(path)" }) else {
      return nil
    }
    var names: [Substring] = []
    for name in whole.split(separator: "/") {
      switch name {
      case ".": continue
      case "..": _ = names.popLast()
      default: names.append(name)
      }
    }
    return "/" + names.joined(separator: "/")
  }
}
