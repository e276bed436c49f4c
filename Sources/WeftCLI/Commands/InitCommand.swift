import WeftPlatform

/// `weft init`: creates a first workflow in a new file.
struct InitCommand {
  private let path: String
  private let console: Console

  init(path: String, _ console: Console) {
    self.path = path
    self.console = console
  }

  func execute() -> ExitCode {
    if path == "-" {
      console.output.write(FirstWorkflow.text)
      return .success
    }
    do {
      try write()
    } catch {
      console.complain(error)
      return .usage
    }
    console.output.write(
      "wrote \(path); to run it: weft run \(path)\n"
        + "for an editor that completes and checks it: weft schema > workflow.schema.json\n")
    return .success
  }

  /// Writes the whole file or none.
  private func write() throws(CommandError) {
    let file: Descriptor
    do {
      file = try Descriptor.creating(path, .onlyNew)
    } catch .alreadyExists {
      throw CommandError(
        "\"\(path)\" exists already and is left as it is", help: "name another: weft init FILE")
    } catch {
      throw CommandError("cannot create \"\(path)\": \(error)")
    }
    do {
      try file.writeAll(FirstWorkflow.text)
    } catch {
      Descriptor.remove(path)
      throw CommandError("cannot write \"\(path)\": \(error.message)")
    }
  }
}
