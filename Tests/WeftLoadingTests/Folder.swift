import WeftDefinition
import WeftDiagnostics
import WeftPlatform

@testable import WeftLoading

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A start directory for one test, removed with everything in it. Its parent holds files that are outside.
final class Folder: Sendable {
  private let scratch: String
  /// The start directory.
  let path: String

  init() {
    var template = Array("\(FileSystem.temporaryDirectory)/weft-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp: errno \(errno)") }
    scratch = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    path = scratch + "/start"
    try! FileSystem.makeDirectory(path)
  }

  deinit { Directory.removeTree(scratch) }

  /// - Parameter name: The path from the start directory; missing directories are created.
  func write(_ name: String, _ content: String) throws {
    if let slash = name.lastIndex(of: "/") {
      try FileSystem.makeDirectories("\(path)/\(name[..<slash])")
    }
    let file = try Descriptor.creating("\(path)/\(name)", .orEmptied)
    try file.writeAll(Array(content.utf8))
  }

  func link(_ name: String, to target: String) {
    guard symlink(target, "\(path)/\(name)") == 0 else { fatalError("symlink: errno \(errno)") }
  }

  /// Writes a workflow whose steps run the named files.
  func write(_ name: String, naming paths: String...) throws {
    try write(name, Folder.workflow(naming: paths))
  }

  static func workflow(naming paths: [String]) -> String {
    let steps = paths.map { "{\"workflow\": \"\($0)\"}" }.joined(separator: ",\n")
    return "{\"steps\": [\n\(steps)\n]}"
  }

  func load(_ name: String = "main.json") throws -> Loading {
    let (workflow, diagnostics) = try WorkflowLoader.load(
      "\(path)/\(name)", startDirectory: path)
    return Loading(workflow: workflow, reported: diagnostics.map(reported))
  }

  /// Loads a text as if from standard input.
  func loadNameless(_ text: String) -> Loading {
    let file = SourceFile(path: "<stdin>", bytes: Array(text.utf8))
    let (workflow, diagnostics) = WorkflowLoader.load(file, at: nil, startDirectory: path)
    return Loading(workflow: workflow, reported: diagnostics.map(reported))
  }

  /// `main.json:2 W0601 …`: the line, the code, and the message, with paths relative to the start directory.
  private func reported(_ diagnostic: Diagnostic) -> String {
    guard let place = diagnostic.place else { return "nowhere: \(diagnostic.message)" }
    let line = place.file.position(of: Int(place.range.start)).line
    let help = diagnostic.help.map { "; \($0)" } ?? ""
    return "\(place.file.path):\(line) \(diagnostic.code) \(diagnostic.message)\(help)"
      .replacing(path + "/", with: "")
  }
}

struct Loading {
  let workflow: Workflow?
  let reported: [String]

  /// The workflow run by the step at that index, then by a step of that workflow, and so on.
  func nested(_ places: Int...) -> NestedWorkflow? {
    var workflow = workflow
    var nested: NestedWorkflow?
    for place in places {
      guard case .workflow(let found) = workflow?.body.members[place].action else { return nil }
      nested = found
      workflow = found.workflow
    }
    return nested
  }
}
