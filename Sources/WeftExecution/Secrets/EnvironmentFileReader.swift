import Synchronization
package import WeftDefinition
package import WeftDiagnostics
package import WeftPlanning
package import WeftPlatform

/// Reads the env files of a run, each once.
package final class EnvironmentFileReader: Sendable {
  private let startDirectory: String?
  private let outer: EnvironmentBlock
  /// The variables that are secrets, by the normalised paths of their files.
  private let secrets: [[Substring]: Set<String>]
  private let texts = Mutex<[String: Result<EnvironmentText, FileReadError>]>([:])

  /// - Parameters:
  ///   - startDirectory: The base of relative paths; `nil` for the current directory of the process.
  ///   - outer: The engine's own environment, to which references may go.
  ///   - secrets: All that the workflow and its nested files declare.
  package init(
    startDirectory: String?, inheriting outer: EnvironmentBlock, secrets: [SecretDeclaration]
  ) {
    self.startDirectory = startDirectory
    self.outer = outer.hiding(secrets)
    self.secrets = secrets.reduce(into: [:]) { all, secret in
      guard case .environmentFile(let path, let name) = secret.source else { return }
      all[EnvironmentFileReader.names(path), default: []].insert(name)
    }
  }

  /// A reader of the files that the steps of a plan have.
  package convenience init(
    for plan: Plan, startDirectory: String?, inheriting outer: EnvironmentBlock? = nil
  ) {
    self.init(
      startDirectory: startDirectory, inheriting: outer ?? .inheritedWithoutJobs(),
      secrets: plan.declaredSecrets)
  }

  /// The variables of the files that a run needs, without those that are sources of secrets.
  ///
  /// - Throws: Diagnostics for all files that are missing or malformed.
  package func variables(for plan: Plan) throws(EnvironmentTextError) -> FileVariables {
    var variables = FileVariables()
    var problems: [Diagnostic] = []
    for list in plan.usedEnvironmentFiles {
      var values: [String: String] = [:]
      for file in list.files {
        do throws(EnvironmentFileError) {
          values = try self.variables(of: file, after: values)
        } catch {
          problems += error.diagnostics(of: file, at: place(of: file, in: list, plan))
          break  // later files may refer to its variables
        }
      }
      for file in list.files {
        for name in secrets[EnvironmentFileReader.names(file.path)] ?? [] { values[name] = nil }
      }
      variables[list.files] = values
    }
    guard problems.isEmpty else { throw EnvironmentTextError(diagnostics: problems) }
    return variables
  }

  /// The problems of the files as far as they are known without a run: the values of references are not, and a file
  /// may be missing until then.
  package func problems(in plan: Plan) -> [Diagnostic] {
    var problems: [Diagnostic] = []
    var seen: Set<String> = []
    for list in plan.usedEnvironmentFiles {
      for file in list.files where seen.insert(file.path).inserted {
        do {
          problems += try text(file.path).diagnostics(concealed: isConcealed(file.path))
        } catch {
          guard file.isRequired || error != .system(.notFound) else { continue }
          problems += EnvironmentFileError.unreadable(error)
            .diagnostics(of: file, at: place(of: file, in: list, plan), before: true)
        }
      }
    }
    return problems
  }

  /// The variables of a file, and those known before it.
  ///
  /// - Parameter wanted: The only variable that must have a value; `nil` for all.
  func variables(
    of file: EnvironmentFile, after known: [String: String] = [:], wanted: String? = nil
  ) throws(EnvironmentFileError) -> [String: String] {
    let text: EnvironmentText
    do { text = try self.text(file.path) } catch {
      if !file.isRequired, error == .system(.notFound) { return known }
      throw .unreadable(error)
    }
    do {
      return try text.values(
        after: known, inheriting: { outer[$0] }, wanted: wanted,
        concealed: isConcealed(file.path))
    } catch {
      throw .malformed(error)
    }
  }

  private func text(_ path: String) throws(FileReadError) -> EnvironmentText {
    if let known = texts.withLock({ $0[path] }) { return try known.get() }
    let read = Result { () throws(FileReadError) in
      let place = EnvironmentFileReader.place(of: path, in: startDirectory)
      return EnvironmentText(
        SourceFile(
          path: path, bytes: try FileReading.bytes(of: place, limit: EnvironmentText.mostBytes)))
    }
    texts.withLock { $0[path] = read }
    return try read.get()
  }

  /// Whether no line of the file may be shown.
  private func isConcealed(_ path: String) -> Bool {
    secrets[EnvironmentFileReader.names(path)] != nil
  }

  private func place(
    of file: EnvironmentFile, in list: PlannedEnvironmentFiles, _ plan: Plan
  ) -> Diagnostic.Place? {
    guard let source = plan.files[list.file].workflow.source.value, let range = file.place.value
    else { return nil }
    return Diagnostic.Place(file: source, range: range)
  }

  /// The path for the system; "-" names a file here.
  static func place(of path: String, in startDirectory: String?) -> String {
    path.resolved(from: startDirectory ?? ".")
  }

  private static func names(_ path: String) -> [Substring] {
    let names = path.split(separator: "/").filter { $0 != "." }
    return path.hasPrefix("/") ? ["/"] + names : names
  }
}

/// The reason why an env file has no values.
enum EnvironmentFileError: Error {
  case unreadable(FileReadError)
  case malformed(EnvironmentTextError)

  /// - Parameter isBefore: Whether there is no run yet, so that the file may still come.
  fileprivate func diagnostics(
    of file: EnvironmentFile, at place: Diagnostic.Place?, before isBefore: Bool = false
  ) -> [Diagnostic] {
    switch self {
    case .malformed(let error): return error.diagnostics
    case .unreadable(let error):
      let isMissing = error == .system(.notFound)
      return [
        Diagnostic(
          isMissing && isBefore ? .note : .error, code: "W0610",
          message: "the env file \(quoted(file.path)) \(error.message)", place: place,
          help: isMissing
            ? "a relative path is relative to the start directory (-C); if it may be missing, "
              + "write { \"path\": \(quoted(file.path)), \"required\": false }"
            : nil)
      ]
    }
  }
}
