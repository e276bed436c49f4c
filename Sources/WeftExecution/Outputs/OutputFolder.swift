import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlanning
import WeftPlatform

/// The files to which steps write their outputs: in a private directory of the run, each new and empty for its
/// attempt, and removed after it.
final class OutputFolder: Sendable {
  private let run: RunID
  private let path = Mutex<String?>(nil)

  init(of run: RunID) {
    self.run = run
  }

  /// Creates a file for one attempt of a step.
  func makeFile(forStep index: Int, attempt: Int) throws(SystemError) -> String {
    let file = "\(try folder())/\(index + 1).\(attempt)"
    _ = try Descriptor.creating(file, .onlyNew)
    return file
  }

  /// Removes the directory with everything in it, including what steps put beside their files.
  func close() {
    path.withLock { path in
      if let path { FileTree.remove(path) }
      path = nil
    }
  }

  private func folder() throws(SystemError) -> String {
    try path.withLock { (path: inout sending String?) throws(SystemError) -> String in
      if let path { return path }
      let random = String(UInt64.random(in: 0 ... .max), radix: 36)
      let made = "\(FileSystem.temporaryDirectory)/weft-\(run.text)-\(random)"
      try FileSystem.makeDirectory(made, mode: 0o700)
      path = made
      return made
    }
  }
}

extension OutputCollector {
  /// The outputs that a step's program wrote into its file; empty if it has none.
  func written(
    in path: String?, by step: PlannedStep
  ) throws(StepFailure) -> [OutputValue] {
    guard let path else { return [] }
    let declared = step.step.outputs.filter { $0.value == nil }.map { output in
      OutputFile.Declaration(
        output.name, output.schema ?? ValueSchema(), isSecret: output.isSecret)
    }
    let bytes: [UInt8]
    do { bytes = try OutputFile.bytes(at: path) } catch {
      let help =
        if case .notRead(.tooLarge) = error {
          "write large data into a file of its own, and hand on its name"
        } else {
          "append to it: echo \"NAME=VALUE\" >> \"$WEFT_OUTPUT\""
        }
      throw StepFailure(
        classes: [.output], message: "$WEFT_OUTPUT \(error.message)", help: help)
    }
    do {
      return try OutputFile.values(in: bytes, declared: declared).map { name, value in
        let isDeclaredSecret = declared.contains { $0.name == name && $0.isSecret }
        return output(name, ExpressionValue(value), isSecret: isDeclaredSecret)
      }
    } catch {
      throw StepFailure(classes: [.output], message: error.message, help: error.help)
    }
  }

  /// An output that contains the bytes of a secret is secret.
  private func output(
    _ name: String, _ value: ExpressionValue, isSecret: Bool
  ) -> OutputValue {
    let mask = values.secrets.mask
    let holdsSecret = !mask.isEmpty && mask.contains(value.jsonText(.compact).utf8)
    return hiding(OutputValue(name: name, value: value, isSecret: isSecret || holdsSecret))
  }
}
