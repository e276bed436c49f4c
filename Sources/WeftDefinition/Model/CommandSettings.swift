/// What a workflow, a group or a step sets for the commands inside it; the inner setting wins.
public struct CommandSettings: Sendable, Hashable {
  /// Merged by name with the outer layers; `nil` removes a variable.
  public var environment: [String: String?]
  /// Relative to the start directory, not to an outer setting.
  public var workingDirectory: String?
  public var shell: Shell?

  public init(
    environment: [String: String?] = [:], workingDirectory: String? = nil, shell: Shell? = nil
  ) {
    self.environment = environment
    self.workingDirectory = workingDirectory
    self.shell = shell
  }
}

/// What runs the text of a script: a command line to which the text is appended.
public struct Shell: Sendable, Hashable {
  /// Never empty.
  public var prefix: [String]

  /// - Precondition: `prefix` is not empty.
  public init(prefix: [String]) {
    precondition(!prefix.isEmpty, "a shell has at least a program")
    self.prefix = prefix
  }

  /// `/bin/sh -e`: ends at the first command that fails. The default.
  public static let sh = Shell(prefix: ["/bin/sh", "-e", "-c"])
  /// `bash -eo pipefail`: also when a part of a pipeline fails.
  public static let bash = Shell(prefix: ["bash", "-eo", "pipefail", "-c"])
  /// `python3`.
  public static let python = Shell(prefix: ["python3", "-c"])

  /// The shells that a file may name by a word.
  public static let named: [(name: String, shell: Shell)] = [
    ("sh", .sh), ("bash", .bash), ("python", .python),
  ]
}
