public import WeftJSON

/// One HTTP request of a step, and what is to become of its answer.
///
/// Texts may have expressions in them; what is written out is checked when the workflow is planned, what is
/// computed when the step starts.
public struct HTTPCall: Sendable, Hashable {
  /// As it stands on the wire: `GET`.
  public var method: String
  public var url: String
  /// What the URL's query has besides, in order. A name may come twice.
  public var query: [Field] = []
  /// Likewise of the head of the request.
  public var headers: [Field] = []
  public var body = Body.none
  public var auth: Auth?
  public var timeouts = Timeouts()
  /// How many redirects are followed.
  public var redirects = WorkflowLimits.defaultRedirects
  /// Whether a redirect may lead from https to http.
  public var allowsDowngrade = false
  public var expectation = Expectation()
  /// The file into which the body goes, relative to the step's directory.
  public var saveTo: String?
  /// What the body may have of bytes; `nil`: 64 MiB, and no limit for what is saved.
  public var maxBytes: ByteCount?
  /// `http://host:port` and the like, or `env` for what the environment names; `nil`: none.
  public var proxy: String?
  public var tls = TLS()
  public var polling: Polling?
  public var paging: Paging?
  public var responseForm = ResponseForm.auto
  public var idempotencyKey: IdempotencyKey?
  /// Where answers are kept for later requests; `nil`: nowhere.
  public var cache: Cache?
  /// When a kept answer stands in for a server that has failed; `nil`: never.
  public var staleOnError: StaleOnError?

  /// Makes a request with the usual conditions.
  ///
  /// - Parameter method: `nil`: `POST` where there is a body, else `GET`.
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

  /// What is sent.
  public enum Body: Sendable, Hashable {
    case none
    /// Strings in it may have expressions; one that is exactly an expression becomes its value.
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
    /// As which the server may keep it; `nil`: that of the file.
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

  /// Limits of one request, redirects included; `nil`: none of its own.
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

  /// Which answers are what was hoped for.
  public struct Expectation: Sendable, Hashable {
    /// `200` and `2xx`.
    public var statuses: [String]
    /// Read with the answer as `self`.
    public var condition: Condition?

    public init(statuses: [String] = ["2xx"], condition: Condition? = nil) {
      self.statuses = statuses
      self.condition = condition
    }
  }

  /// PEM files, relative to the step's directory.
  public struct TLS: Sendable, Hashable {
    /// Authorities to trust in place of the system's.
    public var authorities: String?
    public var certificate: String?
    public var key: String?

    public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
      self.authorities = authorities
      self.certificate = certificate
      self.key = key
    }
  }

  /// Asking again until an answer is the right one.
  public struct Polling: Sendable, Hashable {
    /// Read with the answer as `self`.
    public var until: Condition
    /// From an answer to the next request.
    public var every: Duration
    /// How often it is asked in all.
    public var max: Int

    public init(until: Condition, every: Duration = .seconds(5), max: Int = 100) {
      self.until = until
      self.every = every
      self.max = max
    }
  }

  /// Asking for what follows.
  public struct Paging: Sendable, Hashable {
    public enum Next: Sendable, Hashable {
      /// What the answer's `Link` header names as `next`.
      case link
      /// A URL, absolute or relative to the answer's; `null` or nothing after the last page.
      case computed(Condition)
    }

    public var next: Next
    /// How many pages there may be.
    public var max: Int
    /// What of a page is kept: an array, of which all are put together; `nil`: its JSON.
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

  /// What the body of an answer is taken for.
  public enum ResponseForm: String, Sendable, Hashable, CaseIterable {
    /// What the answer says that it is.
    case auto
    /// JSON, whatever the answer says; the step fails where it is none.
    case json
    /// Text, whatever the answer says; the step fails where it is none.
    case text
  }

  /// A private cache as RFC 9111 has it.
  public enum Cache: Sendable, Hashable {
    /// For as long as the run goes on.
    case ofRun
    /// In a folder, relative to the step's directory, where later runs find it too.
    case folder(String)
  }

  public enum StaleOnError: Sendable, Hashable {
    /// However old the answer is.
    case always
    /// For so long after its lifetime.
    case upTo(Duration)
  }

  /// What makes it safe to send a request again.
  public enum IdempotencyKey: Sendable, Hashable {
    /// A key that only this step of this run has, the same for all its attempts.
    case derived
    case text(String)
  }
}
