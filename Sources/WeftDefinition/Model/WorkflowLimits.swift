/// How large a workflow may be; each limit is told by name when a file exceeds it.
public enum WorkflowLimits {
  /// Bytes of a file that are read before it is rejected.
  public static let fileBytes = 64 << 20
  /// Files that run one another, below the first.
  public static let nestedFiles = 8
  /// Bytes of all files that a workflow runs, each counted once, besides its own.
  public static let nestedBytes = 16 << 20
  /// Bytes of a file that holds the value of one input.
  public static let inputBytes = 1 << 20
  /// Bytes of a text that is to match a pattern.
  public static let matchedBytes = 1 << 20
  /// Bytes of a secret: fewer would be found, and hidden, in all kinds of texts.
  public static let secretBytes = 4...64 << 10
  /// Nesting of JSON arrays and objects.
  public static let jsonDepth = 256
  /// Nesting of groups; the top level does not count.
  public static let groupDepth = 64
  /// Steps and groups of one workflow, all together.
  public static let steps = 2_000_000
  /// Problems of one file that are collected; what comes after them is not checked.
  public static let problems = 100_000
  /// The longest time limit that can be written.
  public static let longestDuration = Duration.seconds(366 * 24 * 3600)
  /// The largest amount of data that can be written: a pebibyte.
  public static let largestSize = ByteCount(1 << 50)
  /// How much of a step's output its log holds, unless the step says otherwise: a gibibyte.
  public static let logLimit = ByteCount(1 << 30)
  /// How long a command may take that prints a secret, unless the secret says otherwise.
  public static let secretCommandTimeout = Duration.seconds(30)
  /// Bytes of a step's output, or of what it writes into `$WEFT_OUTPUT`, that can be a value: a mebibyte.
  public static let valueBytes = 1 << 20
  /// The largest `maxParallel` or `-j`.
  public static let maxParallel = 10_000
  /// The largest number of further attempts of a retry policy.
  public static let retries = 1_000
  /// How long all of `finally` may take.
  public static let finallyTimeout = Duration.seconds(300)
  /// How long a step of `cleanup` may take that does not say otherwise.
  public static let cleanupTimeout = Duration.seconds(60)
  /// The policies of one `retry`.
  public static let retryPolicies = 16
  /// By how much the delay between attempts may grow from one to the next.
  public static let retryFactor = 1...1_000
  /// Slots of a pool.
  public static let poolSlots = 1_000_000
  /// Elements of one `forEach`, combinations of one `matrix`.
  public static let elements = 1_000_000
  /// How many redirects of a request are followed, at most and unless it says otherwise.
  public static let redirects = 50
  public static let defaultRedirects = 10
  /// How long a request and its answer may take that do not say otherwise.
  public static let requestTimeout = Duration.seconds(120)
  /// The longest that a limit of a request can be.
  public static let longestRequest = Duration.seconds(30 * 24 * 3600)
  /// How often a step may ask for the same, and how many pages one may have.
  public static let requests = 100_000
}
