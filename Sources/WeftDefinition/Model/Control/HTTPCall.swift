public import WeftJSON

/// One HTTP request of a step, and the treatment of its response.
///
/// Texts may contain expressions. Literal texts are checked during planning, computed ones when the step starts.
public struct HTTPCall: Sendable, Hashable {
  /// The method as sent: `GET`.
  public var method: String
  public var url: String
  /// Parameters that are added to the URL's query, in order. A name may occur twice.
  public var query: [Field] = []
  /// Header fields, in order. A name may occur twice.
  public var headers: [Field] = []
  public var body = Body.none
  public var auth: Auth?
  public var timeouts = Timeouts()
  /// The most redirects to follow.
  public var redirects = WorkflowLimits.defaultRedirects
  /// Whether a redirect may lead from https to http.
  public var allowsDowngrade = false
  public var expectation = Expectation()
  /// The file for the body, relative to the step's directory.
  public var saveTo: String?
  /// The largest body; `nil` for 64 MiB, or for no limit if the body is saved.
  public var maxBytes: ByteCount?
  /// `http://host:port` or similar, or `env` for the proxy that the environment names; `nil` for none.
  public var proxy: String?
  public var tls = TLS()
  public var polling: Polling?
  public var paging: Paging?
  public var responseForm = ResponseForm.auto
  public var idempotencyKey: IdempotencyKey?
  /// The cache that keeps responses for later requests; `nil` for none.
  public var cache: Cache?
  /// The condition for using a cached response when the server fails; `nil` for never.
  public var staleOnError: StaleOnError?

  /// Creates a request with default settings.
  ///
  /// - Parameter method: `nil` for `POST` if there is a body, else `GET`.
  public init(_ url: String, method: String? = nil, body: Body = .none) {
    self.url = url
    self.body = body
    self.method = method ?? (body == .none ? "GET" : "POST")
  }

  /// A name and a value.
  public struct Field: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The content to send.
  public enum Body: Sendable, Hashable {
    case none
    /// Strings in it may contain expressions; one that is exactly an expression becomes its value.
    case json(JSONValue)
    case text(String)
    case form([Field])
    case multipart([Part])
    /// A file, relative to the step's directory.
    case file(String)
  }

  /// A field of a multipart form.
  public struct Part: Sendable, Hashable {
    public enum Content: Sendable, Hashable {
      case text(String)
      /// A file, relative to the step's directory.
      case file(String)
    }

    public var name: String
    public var content: Content
    /// The name under which the server may store it; `nil` for that of the file.
    public var fileName: String?
    public var contentType: String?

    public init(
      _ name: String, _ content: Content, fileName: String? = nil, contentType: String? = nil
    ) {
      self.name = name
      self.content = content
      self.fileName = fileName
      self.contentType = contentType
    }
  }

  public enum Auth: Sendable, Hashable {
    case bearer(String)
    case basic(user: String, password: String)
  }

  /// Timeouts of one request, redirects included; `nil` if it has none of its own.
  public struct Timeouts: Sendable, Hashable {
    public var connect: Duration?
    public var idle: Duration?
    public var total: Duration?

    public init(
      connect: Duration? = nil, idle: Duration? = nil,
      total: Duration? = WorkflowLimits.requestTimeout
    ) {
      self.connect = connect
      self.idle = idle
      self.total = total
    }
  }

  /// The responses that are accepted.
  public struct Expectation: Sendable, Hashable {
    /// Status codes and classes, such as `200` and `2xx`.
    public var statuses: [String]
    /// Evaluated with the response as `self`.
    public var condition: Condition?

    public init(statuses: [String] = ["2xx"], condition: Condition? = nil) {
      self.statuses = statuses
      self.condition = condition
    }
  }

  /// PEM files, relative to the step's directory.
  public struct TLS: Sendable, Hashable {
    /// Authorities to trust instead of the system's.
    public var authorities: String?
    public var certificate: String?
    public var key: String?

    public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
      self.authorities = authorities
      self.certificate = certificate
      self.key = key
    }
  }

  /// Repeats a request until the response is the expected one.
  public struct Polling: Sendable, Hashable {
    /// Evaluated with the response as `self`.
    public var until: Condition
    /// The delay from a response to the next request.
    public var every: Duration
    /// The total number of requests.
    public var max: Int

    public init(until: Condition, every: Duration = .seconds(5), max: Int = 100) {
      self.until = until
      self.every = every
      self.max = max
    }
  }

  /// Pagination: follows the pages of a response.
  public struct Paging: Sendable, Hashable {
    public enum Next: Sendable, Hashable {
      /// The URL that the response's `Link` header names as `next`.
      case link
      /// A URL, absolute or relative to that of the response; `null`, `false` or empty after the last page.
      case computed(Condition)
    }

    public var next: Next
    /// The most pages to request.
    public var max: Int
    /// The part of each page to keep: an array, and all are concatenated; `nil` for the JSON of the page.
    public var collect: Condition?
    /// Origins besides that of the URL that may get a request with a body, or one that may change something.
    public var origins: [String]

    public init(
      next: Next = .link, max: Int = 100, collect: Condition? = nil, origins: [String] = []
    ) {
      self.next = next
      self.max = max
      self.collect = collect
      self.origins = origins
    }
  }

  /// The interpretation of a response's body.
  public enum ResponseForm: String, Sendable, Hashable, CaseIterable {
    /// As the response declares it.
    case auto
    /// JSON, whatever the response declares; the step fails if it is not.
    case json
    /// Text, whatever the response declares; the step fails if it is not.
    case text
  }

  /// A private cache as in RFC 9111.
  public enum Cache: Sendable, Hashable {
    /// Lasts as long as the run.
    case ofRun
    /// Is kept in a folder, relative to the step's directory, and shared with later runs.
    case folder(String)
  }

  public enum StaleOnError: Sendable, Hashable {
    /// However old the response is.
    case always
    /// Up to this long after the end of its lifetime.
    case upTo(Duration)
  }

  /// A key that makes it safe to send a request again.
  public enum IdempotencyKey: Sendable, Hashable {
    /// A key unique to this step of this run, and shared by all its attempts.
    case derived
    case text(String)
  }
}
