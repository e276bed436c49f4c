/// The names by which files are found, and taken for workflows and tests.
package enum WorkflowFileName {
  /// A project's workflow, the first of which counts.
  package static let ofProjects = ["weft.jsonc", "weft.json", "workflow.jsonc", "workflow.json"]
  /// The folder of workflows that are named without their folder and ending.
  package static let folder = "workflows"
  package static let endings = [".jsonc", ".json"]

  /// Whether a path is that of a file of `weft test`.
  package static func isTest(_ path: String) -> Bool {
    endings.contains { path.hasSuffix(".test" + $0) }
  }

  /// Whether a path is that of a workflow, by its name or its folder; `.github/workflows` has others.
  package static func isWorkflow(_ path: String) -> Bool {
    let names = path.split(separator: "/").suffix(3)
    guard let name = names.last.map(String.init), !name.hasSuffix(".schema.json") else {
      return false
    }
    if ofProjects.contains(name) { return true }
    return endings.contains(where: name.hasSuffix) && names.dropLast().last == Substring(folder)
      && names.first != ".github"
  }
}
