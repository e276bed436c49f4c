import CWeftSchemas
import Weft
import WeftDefinition
import WeftPlatform
import WeftTestKit

/// `weft init`: creates a first workflow, or a first test of a workflow, in a new file.
struct InitCommand: Subcommand {
  private let path: String
  private let isTest: Bool

  init(_ parsed: ParsedArguments) {
    isTest = parsed.isGiven(.initTest)
    path = parsed.operands.first ?? (isTest ? InitCommand.defaultTest : "workflow.json")
  }

  /// The test of the workflow here.
  private static var defaultTest: String {
    let own = WorkflowFileName.ofProjects.first(where: WorkflowLookup.isFile) ?? "workflow.json"
    return WorkflowLookup.bare(own) + TestFiles.suffix
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    if isTest { return try makeTest(console) }
    if path == "-" {
      console.output.write(FirstWorkflow.text)
      return .success
    }
    try NewFile.write(FirstWorkflow.text, to: path, command: "weft init FILE")
    var text = "wrote \(path); to run it: weft run \(path)\n"
    if let schema = writeSchema() {
      text += "wrote \(schema), by which editors complete and check it\n"
    }
    console.output.write(text)
    return .success
  }

  /// Writes the schema that the workflow names, beside it, unless there is one.
  ///
  /// - Returns: The path, if it was written. The workflow runs without it.
  private func writeSchema() -> String? {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    let schema = folder + FirstWorkflow.schema
    do throws(CommandFailure) {
      try NewFile.write(SchemaName.workflow.text, to: schema, command: "weft schema")
      return schema
    } catch {
      return nil
    }
  }

  /// Writes a test with one case, in which every step of the workflow beside it succeeds.
  private func makeTest(_ console: Console) throws(CommandFailure) -> ExitCode {
    guard path.hasSuffix(TestFiles.suffix) else {
      throw CommandFailure(
        .usage, "\"\(path)\" is not the name of a test file",
        help: "its name ends in \(TestFiles.suffix): weft init --test release\(TestFiles.suffix)")
    }
    let bare = path.dropLast(TestFiles.suffix.count)
    let names = WorkflowFileName.endings.map { bare + $0 }
    let workflow = names.first { WorkflowLookup.isFile(String($0)) } ?? bare + ".json"
    let configuration = UserConfiguration.read()
    let checked: CheckedWorkflow
    do throws(FileReadError) {
      checked = try CheckedWorkflow(
        contentsOf: String(workflow), actions: nil, runners: configuration.runners)
    } catch {
      throw CommandFailure(
        .usage, "the workflow \"\(workflow)\" \(error.message)",
        help: "the test of NAME.json or NAME.jsonc is NAME\(TestFiles.suffix)")
    }
    guard let plan = checked.plan, !configuration.isRejected else {
      throw CommandFailure(.rejected, configuration.problems(with: checked.diagnostics))
    }
    let name = workflow.split(separator: "/").last.map(String.init) ?? String(workflow)
    let first = FirstCase(of: plan, at: name, for: path)
    try NewFile.write(first.text, to: path, command: "weft init --test FILE")
    console.output.write("wrote \(path); to run it: weft test \(path)\n")
    for input in first.inputsToFill {
      console.output.write(
        "write a value for the input \"\(input.name)\" first: \(input.schema.summary)\n")
    }
    return .success
  }
}

/// A file that a command creates, and never overwrites.
enum NewFile {
  /// Writes the whole file or none.
  ///
  /// - Parameter command: The command that writes another file.
  static func write(
    _ text: String, to path: String, command: String
  ) throws(CommandFailure) {
    let file: Descriptor
    do {
      file = try Descriptor.creating(path, .onlyNew)
    } catch .alreadyExists {
      throw CommandFailure(
        .usage, "\"\(path)\" already exists",
        help: "name a different file: \(command)")
    } catch {
      throw CommandFailure(.usage, "cannot create \"\(path)\": \(error)")
    }
    do {
      try file.writeAll(text)
    } catch {
      Descriptor.remove(path)
      throw CommandFailure(.broken, "cannot write \"\(path)\": \(error.message)")
    }
  }
}

/// The output of `weft init`: small, and runnable wherever there is a shell.
enum FirstWorkflow {
  /// The file with the schema, in the same folder.
  static let schema = "workflow.schema.json"

  static let text = """
    {
      "$schema": "./\(schema)",
      "name": "first",
      "description": "Steps run one after another; those in a parallel group, side by side.",
      "steps": [
        {
          "id": "prepare",
          "description": "A string runs in a shell. Its output is logged: see weft logs.",
          "run": "echo preparing; date"
        },
        {
          "id": "checks",
          "description": "The group ends when all its members have ended.",
          "parallel": [
            { "id": "unit", "run": "echo testing one part", "timeout": "5m" },
            {
              "id": "system",
              "description": "An array starts a program without a shell. Its output is a value.",
              "run": ["uname", "-sm"],
              "outputs": { "name": "${{ self.stdout }}" }
            },
            {
              "id": "style",
              "description": "Its failure would be reported, and the run would continue.",
              "run": "echo looking at the style",
              "allowFailure": true
            },
            {
              "id": "summary",
              "description": "Waits for these members only.",
              "needs": ["unit", "style"],
              "run": "echo unit and style are done"
            }
          ]
        },
        {
          "id": "finish",
          "description": "An expression yields a value. It is never run as code.",
          "env": { "GREETING": "hello" },
          "run": "echo \\"$GREETING from the last step, on ${{ steps.system.outputs.name }}\\""
        }
      ]
    }

    """
}

/// The schemas built into the program.
enum SchemaName: String, CaseIterable {
  case workflow, test, event

  /// The schema file, byte for byte.
  var text: String {
    switch self {
    case .workflow: return WorkflowSchema.text
    case .test: return TestFileSchema.text
    case .event:
      let schema = weft_event_schema()
      return String(
        decoding: UnsafeRawBufferPointer(start: schema.bytes, count: schema.count), as: UTF8.self)
    }
  }
}
