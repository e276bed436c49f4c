import WeftShell

/// Settings of a workflow, a group or a step for the commands inside it; the inner setting wins.
public struct CommandSettings: Sendable, Hashable {
  /// Merged by name with the outer layers; `nil` removes a variable.
  public var environment: [String: String?]
  /// Relative to the start directory, not to an outer setting.
  public var workingDirectory: String?
  public var shell: Shell?
  /// The part of the engine's own environment that they get.
  public var environmentPolicy: EnvironmentPolicy?

  public init(
    environment: [String: String?] = [:], workingDirectory: String? = nil, shell: Shell? = nil,
    environmentPolicy: EnvironmentPolicy? = nil
  ) {
    self.environment = environment
    self.workingDirectory = workingDirectory
    self.shell = shell
    self.environmentPolicy = environmentPolicy
  }
}

/// The part of the engine's environment that programs get, besides the variables that the workflow sets.
public enum EnvironmentPolicy: String, Sendable, Hashable, CaseIterable {
  /// All variables except the sources of secrets. The default.
  case inherit
  /// Only variables that programs cannot do without: see ``isKept(_:)``.
  case clean

  /// Whether `clean` keeps the variable: `PATH HOME USER LOGNAME SHELL LANG TZ TMPDIR TERM` and `LC_…`.
  package static func isKept(_ name: String) -> Bool {
    EnvironmentName.isEssential(name)
  }
}

/// A command line that runs the text of a script, which is appended to it.
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

  /// The shells that a file can select by name.
  public static let named: [(name: String, shell: Shell)] = [
    ("sh", .sh), ("bash", .bash), ("python", .python),
  ]
}
