package import WeftDefinition
package import WeftDiagnostics
package import WeftPlatform

/// Reads a workflow file and the files that it names.
///
/// In the order of the work: ``LoadingPass`` walks through the files, each once, depth first. It reads their bytes
/// through `Directory`; ``NestingChain`` rejects files that run themselves or are nested too deeply, and
/// ``ByteBudget`` limits their total size. A problem with naming a file is a ``NamingError``.
package enum WorkflowLoader {
  /// Reads the file at `path` and all files it names.
  ///
  /// Blocks until they are read: at most 64 MiB for the first, which must find a writer within 5 seconds if it is a
  /// FIFO, and ``WorkflowLimits/nestedBytes`` for all others together.
  ///
  /// - Parameters:
  ///   - path: Relative to the current directory; `-` is standard input.
  ///   - startDirectory: See ``load(_:at:startDirectory:)``.
  /// - Throws: The reason why the first file cannot be read. Problems with other files are diagnostics.
  package static func load(
    _ path: String, startDirectory: String? = nil
  ) throws(FileReadError) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    let bytes = try FileReading.bytes(of: path, limit: WorkflowLimits.fileBytes)
    let isNameless = path == "-"
    return load(
      SourceFile(path: isNameless ? "<stdin>" : path, bytes: bytes), at: isNameless ? nil : path,
      startDirectory: startDirectory)
  }

  /// Decodes a file that was read, and reads all files it names.
  ///
  /// Names are literal, and relative to the file that contains them; a file behind a symbolic link counts by its real
  /// location. Nothing outside the start directory is opened.
  ///
  /// - Parameters:
  ///   - path: The path of the file; `nil` if it has none: names in it are relative to the start directory.
  ///   - startDirectory: The directory that must contain all named files; `nil` is the current directory. Messages show
  ///     paths that begin with it.
  /// - Returns: The workflow as far as it was understood, with the nested workflow of each step that runs another file
  ///   if that could be read, and all diagnostics: those of the file, then those of the other files in the order in
  ///   which they are named. The diagnostics of a nested file are reported once, however often it is named.
  package static func load(
    _ file: SourceFile, at path: String?, startDirectory: String? = nil
  ) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
    var decoded = WorkflowDecoder.decoded(file)
    guard decoded.namesOtherFiles, var workflow = decoded.workflow else {
      return (decoded.workflow, decoded.diagnostics)
    }
    decoded.workflow = nil  // avoids copying all its steps
    var pass = LoadingPass(
      root: file, at: path, saying: decoded.diagnostics, startDirectory: startDirectory)
    pass.complete(&workflow)
    return (workflow, pass.diagnostics)
  }
}
