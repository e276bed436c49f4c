extension Command {
  /// The inputs and outputs of a command, by which an earlier result can replace running it.
  public struct Caching: Sendable, Hashable {
    /// Patterns of files, relative to the step's directory; a pattern that begins with `!` excludes its matches.
    public var inputs: [String]
    /// Paths of files and directories, relative to the step's directory.
    public var outputs: [String]
    /// Environment variables that the result depends on, besides those that the workflow sets.
    public var environment: [String]
    /// A text that the result depends on; the command runs again if it changes.
    public var key: String?
    /// A command whose output the result depends on, such as the version of a compiler.
    public var version: Invocation?

    public init(
      inputs: [String], outputs: [String] = [], environment: [String] = [], key: String? = nil,
      version: Invocation? = nil
    ) {
      self.inputs = inputs
      self.outputs = outputs
      self.environment = environment
      self.key = key
      self.version = version
    }
  }

  /// The conditions under which an earlier result replaces running it; `nil` if none does.
  public var caching: Caching? {
    get { hasOptions ? options.caching : nil }
    set { options.caching = newValue }
  }
}
