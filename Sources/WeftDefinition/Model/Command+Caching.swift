extension Command {
  /// What a command reads and makes, so that what it made once may stand in for running it again.
  public struct Caching: Sendable, Hashable {
    /// Patterns of files, relative to the step's directory; one that begins with `!` takes out what it means.
    public var inputs: [String]
    /// Paths of files and directories, relative to the step's directory.
    public var outputs: [String]
    /// Variables that count beside those that the workflow sets.
    public var environment: [String]
    /// A text that counts too; another one means that the command is run again.
    public var key: String?
    /// A command whose output counts too, such as that of a compiler telling its version.
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

  /// What may stand in for running it; `nil`: nothing.
  public var caching: Caching? {
    get { hasOptions ? options.caching : nil }
    set { options.caching = newValue }
  }
}
