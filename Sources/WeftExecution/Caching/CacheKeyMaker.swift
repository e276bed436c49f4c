import Synchronization
import WeftCaching
import WeftDefinition
import WeftPlatform

/// Computes the cache keys of steps.
struct CacheKeyMaker: Sendable {
  let cache: StepCache
  let secrets: RunSecrets
  let versions: ToolVersions

  /// - Parameters:
  ///   - files: The files that are the step's inputs.
  ///   - log: The hash of the log that the step reads.
  func key(
    of subject: CacheSubject, files: [FileRecord], log: String?, stop: StopSwitch
  ) throws(CacheKeyError) -> CacheKey {
    var key = keyWithoutFiles(of: subject, log: log)
    key.set(.inputs, files: files)
    if let command = subject.version {
      let text = try versions.text(
        of: command, subject, environment: key.hash(of: .env) ?? "", stop: stop)
      key.set(.version, content(text))
    }
    return key
  }

  /// The parts of the key that need neither the file system nor a program.
  func keyWithoutFiles(of subject: CacheSubject, log: String?) -> CacheKey {
    var key = CacheKey()
    key.set(.platform, .text(Machine.platform))
    key.set(.command, subject.command.map { CacheValue($0.name, content($0.text)) })
    key.set(.cwd, .text(subject.directory.joined(separator: "/")))
    if !subject.elements.isEmpty {
      key.set(
        .element,
        subject.elements.enumerated().map { index, element in
          CacheValue(
            index == 0 ? "item" : "item of \(index) further out",
            element.isSecret ? cache.secret(element.text) : content(element.text))
        })
    }
    if let input = input(of: subject, log: log) { key.set(.stdin, input) }
    key.set(.env, subject.variables.map { CacheValue($0, variable($0, of: subject)) })
    key.set(
      .outputs, subject.outputs.map { CacheValue($0.joined(separator: "/"), .text("")) })
    if let text = subject.caching.key { key.set(.key, content(text)) }
    return key
  }

  private func input(of subject: CacheSubject, log: String?) -> CacheContent? {
    switch subject.input {
    case .none: nil
    case .text(let text, let isSecret): isSecret ? cache.secret(text) : content(text)
    // The file's content is among the inputs.
    case .file(let names): .text("file: " + names.joined(separator: "/"))
    case .log: log.map { .long(hash: $0) }
    }
  }

  private func variable(_ name: String, of subject: CacheSubject) -> CacheContent {
    guard let value = subject.environment[name] else { return .unset }
    return subject.secretVariables.contains(name) ? cache.secret(value) : content(value)
  }

  /// Text that contains the bytes of a secret is secret.
  private func content(_ text: String) -> CacheContent {
    secrets.hideAnything && secrets.mask.contains(Array(text.utf8)) ? cache.secret(text) : .of(text)
  }
}

extension Machine {
  /// The system and the processor architecture that this program was built for.
  static var platform: String {
    #if os(Linux)
      let system = "linux"
    #elseif os(macOS)
      let system = "macos"
    #else
      let system = "other"
    #endif
    #if arch(x86_64)
      return system + "-x86_64"
    #elseif arch(arm64)
      return system + "-arm64"
    #else
      return system
    #endif
  }
}
