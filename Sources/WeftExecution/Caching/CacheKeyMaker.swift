import Synchronization
import WeftCaching
import WeftDefinition
import WeftPlatform

/// Finds out what a step's result depends on.
struct CacheKeyMaker: Sendable {
  let cache: StepCache
  let secrets: RunSecrets
  let versions: ToolVersions

  /// - Parameters:
  ///   - files: What its inputs are.
  ///   - log: The hash of the log that it reads.
  func key(
    of subject: CacheSubject, files: [FileRecord], log: String?, stop: StopSwitch
  ) throws(CacheObstacle) -> CacheKey {
    var key = keyWithoutFiles(of: subject, log: log)
    key.set(.inputs, files: files)
    if let command = subject.version {
      let text = try versions.text(
        of: command, subject, environment: key.hash(of: .env) ?? "", stop: stop)
      key.set(.version, content(text))
    }
    return key
  }

  /// All of it that can be known without looking at the file system or starting anything.
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
    // What is in it is among the inputs.
    case .file(let names): .text("file: " + names.joined(separator: "/"))
    case .log: log.map { .long(hash: $0) }
    }
  }

  private func variable(_ name: String, of subject: CacheSubject) -> CacheContent {
    guard let value = subject.environment[name] else { return .unset }
    return subject.secretVariables.contains(name) ? cache.secret(value) : content(value)
  }

  /// What holds the bytes of a secret is secret.
  private func content(_ text: String) -> CacheContent {
    secrets.hideAnything && secrets.mask.contains(Array(text.utf8)) ? cache.secret(text) : .of(text)
  }
}

extension Machine {
  /// The system and the processor for which this program was made.
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
