public import WeftDiagnostics

/// A text of a step, a group or the workflow that may contain expressions (`${{ … }}`).
public enum TextSite: Sendable, Hashable {
  case name
  /// The text of a script.
  case script
  /// An element of a program's command line, from 0.
  case argument(Int)
  /// The value of a variable.
  case variable(String)
  case workingDirectory
  /// The standard input of a command.
  case input
  /// The path of the file that a command reads.
  case inputFile
  /// The value of an output.
  case output(String)
  /// An `if`.
  case condition
  /// The `when` of a retry policy, from 0.
  case retryCondition(Int)
  /// The `in` of `forEach`.
  case elements
  /// The `key` of `forEach`.
  case elementKey
  /// The values of an axis of a matrix.
  case axis(String)
  /// The `include` of a matrix.
  case include
  /// The `exclude` of a matrix.
  case exclude
  /// The duration or moment of a wait.
  case waiting
  /// The message of an approval.
  case message
  /// The key of `concurrency`.
  case concurrencyKey
  /// A parameter in `with`.
  case parameter(String)
  /// A pattern of the files that a cached command reads, from 0.
  case cacheInput(Int)
  /// The path of an output of a cached command, from 0.
  case cacheOutput(Int)
  /// The `key` of a cached command.
  case cacheKey
  /// A key with a number, a duration, a size or a Boolean that an expression gives.
  case computed(ComputedKey)
  /// A text of an HTTP request, or an expression about its response.
  indirect case http(HTTPSite)
}

/// A key whose value can be given by exactly one expression instead.
public enum ComputedKey: String, Sendable, Hashable, CaseIterable {
  case timeout
  case stallTimeout
  case grace = "stop.grace"
  case logLimit
  case mergeOutput
  case tty
  case jobserver
  case allowFailure
  case maxParallel
  case retryMax = "retry.max"
  case retryDelay = "retry.delay"
  case retryMaxDelay = "retry.maxDelay"
  case retryWithin = "retry.within"
  case elementParallel = "forEach.maxParallel"
  case connectTimeout = "http.timeout.connect"
  case idleTimeout = "http.timeout.idle"
  case totalTimeout = "http.timeout.total"
  case redirects = "http.redirects"
  case maxBytes = "http.maxBytes"
  case pollEvery = "http.poll.every"
  case pollMax = "http.poll.max"
  case pagesMax = "http.pages.max"
}

extension ComputedKey {
  /// A type of values that expressions give.
  package enum ValueType: Sendable {
    case duration(allowsZero: Bool)
    case size
    case flag
    case count(ClosedRange<Int>)
    /// A truth, or classes of failures.
    case tolerance
  }

  /// The type that the value must have.
  package var type: ValueType {
    switch self {
    case .timeout, .stallTimeout, .retryWithin, .connectTimeout, .idleTimeout, .totalTimeout:
      .duration(allowsZero: false)
    case .grace, .retryDelay, .retryMaxDelay, .pollEvery: .duration(allowsZero: true)
    case .logLimit, .maxBytes: .size
    case .mergeOutput, .tty, .jobserver: .flag
    case .allowFailure: .tolerance
    case .maxParallel, .elementParallel: .count(ValueRule.maxParallel)
    case .retryMax: .count(ValueRule.retries)
    case .redirects: .count(ValueRule.redirects)
    case .pollMax, .pagesMax: .count(ValueRule.requests)
    }
  }
}

/// The location of a text that contains an expression, with its quotes.
public struct TextPlace: Sendable, Hashable {
  public var site: TextSite
  public var range: SourceRange

  public init(_ site: TextSite, at range: SourceRange) {
    self.site = site
    self.range = range
  }
}
