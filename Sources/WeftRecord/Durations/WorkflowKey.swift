import WeftDefinition
import WeftDiagnostics
public import WeftPlanning
import WeftPlatform

/// By what a workflow is known again in later runs: the path of its file; its name, if it has no file.
///
/// A file that was changed is the same workflow.
public struct WorkflowKey: Sendable, Hashable, CustomStringConvertible {
  enum Place: Sendable, Hashable {
    /// From the root, without `.` and `..`.
    case file(String)
    case name(String)
  }

  let place: Place

  /// - Returns: `nil` of a workflow without file and name, and of one that was read from standard input
  ///   and has no name.
  public init?(_ plan: Plan) {
    self.init(
      file: plan.workflow.source.value?.path, name: plan.workflow.name,
      below: try? FileSystem.currentDirectory())
  }

  /// - Parameter directory: What a relative path is relative to.
  init?(file: String?, name: String?, below directory: String?) {
    if let file, WorkflowKey.isPath(file), let path = WorkflowKey.path(file, below: directory) {
      place = .file(path)
    } else if let name {
      place = .name(name)
    } else {
      return nil
    }
  }

  /// What tells it from every other: `file /srv/app/release.json`.
  public var description: String {
    switch place {
    case .file(let path): "file \(path)"
    case .name(let name): "name \(name)"
    }
  }

  /// The same for those who keep what they know in a directory that moves with what is around it, as a project
  /// with its `.weft` does: what is below the directory around it is known by its path from there.
  func text(keptIn directory: String) -> String {
    guard case .file(let path) = place,
      let around = WorkflowKey.path(directory + "/..", below: try? FileSystem.currentDirectory()),
      path.hasPrefix(around == "/" ? "/" : around + "/")
    else { return description }
    return "below \(path.dropFirst(around == "/" ? 1 : around.utf8.count + 1))"
  }

  /// Standard input is no file that is there again, nor is a pipe that a shell has made.
  private static func isPath(_ file: String) -> Bool {
    !file.isEmpty && file != "-" && file != "<stdin>" && !file.hasPrefix("/dev/")
      && !file.hasPrefix("/proc/")
  }

  /// From the root, by the names alone; `nil` where that is not known.
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
