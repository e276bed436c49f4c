import CWeftSchemas
import WeftDefinition
import WeftPlatform

/// `weft init`: creates a first workflow in a new file.
struct InitCommand: Subcommand {
  private let path: String

  init(_ parsed: ParsedArguments) { path = parsed.operands.first ?? "workflow.json" }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    if path == "-" {
      console.output.write(FirstWorkflow.text)
      return .success
    }
    try write()
    console.output.write(
      "wrote \(path); to run it: weft run \(path)\n"
        + "for completion and checks in an editor: weft schema > workflow.schema.json\n")
    return .success
  }

  /// Writes the whole file or none.
  private func write() throws(CommandFailure) {
    let file: Descriptor
    do {
      file = try Descriptor.creating(path, .onlyNew)
    } catch .alreadyExists {
      throw CommandFailure(
        .usage, "\"\(path)\" already exists",
        help: "name a different file: weft init FILE")
    } catch {
      throw CommandFailure(.usage, "cannot create \"\(path)\": \(error)")
    }
    do {
      try file.writeAll(FirstWorkflow.text)
    } catch {
      Descriptor.remove(path)
      throw CommandFailure(.usage, "cannot write \"\(path)\": \(error.message)")
    }
  }
}

/// The output of `weft init`: small, and runnable wherever there is a shell.
enum FirstWorkflow {
  static let text = """
    {
      "$schema": "./workflow.schema.json",
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
  case workflow, event

  /// The schema file, byte for byte.
  var text: String {
    switch self {
    case .workflow: return WorkflowSchema.text
    case .event:
      let schema = weft_event_schema()
      return String(
        decoding: UnsafeRawBufferPointer(start: schema.bytes, count: schema.count), as: UTF8.self)
    }
  }
}
