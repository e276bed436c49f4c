package import WeftDefinition
package import WeftDiagnostics
package import WeftPlatform

/// Reads a workflow file, and the files that it names.
///
/// The module in the order it happens: ``LoadingPass`` goes through the files, each once, depth first;
/// it asks `ConfiningDirectory` for the bytes, ``NestingChain`` whether a file runs itself or too many are
/// inside each other, and ``ByteBudget`` whether there is too much of it all. What is wrong with the naming
/// of a file is a ``NamingFault``.
package enum WorkflowLoader {
  /// Reads the file at `path`, and all that it names.
  ///
  /// Blocks until they are read: at most 64 MiB for the first, which must find a writer within 5 seconds
  /// if it is a FIFO, and ``WorkflowLimits/nestedBytes`` for all others together.
  ///
  /// - Parameters:
  ///   - path: Relative to the current directory; `-` is standard input.
  ///   - startDirectory: As ``load(_:at:startDirectory:)`` has it.
  /// - Throws: What keeps the first file from being read. What is wrong with another one is a diagnostic.
  package static func load(
    _ path: String, startDirectory: String? = nil
  ) throws(FileNotRead) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    let bytes = try FileReading.bytes(of: path, limit: WorkflowLimits.fileBytes)
    let isNameless = path == "-"
    return load(
      SourceFile(path: isNameless ? "<stdin>" : path, bytes: bytes), at: isNameless ? nil : path,
      startDirectory: startDirectory)
  }

  /// Decodes a file that was read, and reads all that it names.
  ///
  /// A name is literal, and relative to the file that has it; a file that a link leads to is where it lies
  /// itself. Nothing outside of the start directory is opened.
  ///
  /// - Parameters:
  ///   - path: Where the file lies; `nil` for one that lies nowhere: what it names is relative to the
  ///     start directory.
  ///   - startDirectory: What the files named must lie in; `nil` is the current directory. Messages name
  ///     files by the way through it.
  /// - Returns: What was understood, with the workflow of each step that is another file where that could
  ///   be read, and all problems: those of the file, then those of each other one in the order in which
  ///   they are met. What a nested file says is told once, however often it is named.
  package static func load(
    _ file: SourceFile, at path: String?, startDirectory: String? = nil
  ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    var decoded = WorkflowDecoder.decoded(file)
    guard decoded.namesOtherFiles, var workflow = decoded.workflow else {
      return (decoded.workflow, decoded.diagnostics)
    }
    decoded.workflow = nil  // or all its steps would be copied
    var pass = LoadingPass(
      root: file, at: path, saying: decoded.diagnostics, startDirectory: startDirectory)
    pass.complete(&workflow)
    return (workflow, pass.diagnostics)
  }
}
