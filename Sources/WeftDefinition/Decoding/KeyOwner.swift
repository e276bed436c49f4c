import WeftDiagnostics

/// The object that contains a key.
enum KeyOwner: Hashable, CaseIterable {
  case workflow, step, stdin, stop, cache, secret, defaults, retry, wait, approve, join, forEach,
    pool, concurrency
  case http, requestTimeout, redirects, auth, basicAuth, expect, tls, poll, pages, part

  var noun: String {
    switch self {
    case .workflow: "a workflow"
    case .step: "a step"
    case .stdin: "\"stdin\""
    case .stop: "\"stop\""
    case .cache: "\"cache\""
    case .secret: "a secret"
    case .defaults: "\"defaults\""
    case .retry: "\"retry\""
    case .wait: "\"wait\""
    case .approve: "\"approve\""
    case .join: "\"join\""
    case .forEach: "\"forEach\""
    case .pool: "a pool"
    case .concurrency: "\"concurrency\""
    case .http: "\"http\""
    case .requestTimeout: "\"timeout\" of \"http\""
    case .redirects: "\"redirects\""
    case .auth: "\"auth\""
    case .basicAuth: "\"basic\""
    case .expect: "\"expect\""
    case .tls: "\"tls\""
    case .poll: "\"poll\""
    case .pages: "\"pages\""
    case .part: "a part of \"multipart\""
    }
  }

  /// The keys that it may have.
  var keys: [String] {
    switch self {
    case .workflow: WorkflowKey.allCases.map(\.rawValue)
    case .step: StepKey.allCases.map(\.rawValue)
    case .stdin: StandardInputKey.allCases.map(\.rawValue)
    case .stop: StopKey.allCases.map(\.rawValue)
    case .cache: CacheKeyword.allCases.map(\.rawValue)
    case .secret: SecretKey.allCases.map(\.rawValue)
    case .defaults: DefaultsKey.allCases.map(\.rawValue)
    case .retry: RetryKey.allCases.map(\.rawValue)
    case .wait: WaitKey.allCases.map(\.rawValue)
    case .approve: ApproveKey.allCases.map(\.rawValue)
    case .join: JoinKey.allCases.map(\.rawValue)
    case .forEach: ForEachKey.allCases.map(\.rawValue)
    case .pool: PoolKey.allCases.map(\.rawValue)
    case .concurrency: ConcurrencyKey.allCases.map(\.rawValue)
    case .http: HTTPKey.allCases.map(\.rawValue)
    case .requestTimeout: RequestTimeoutKey.allCases.map(\.rawValue)
    case .redirects: RedirectsKey.allCases.map(\.rawValue)
    case .auth: AuthKey.allCases.map(\.rawValue)
    case .basicAuth: BasicAuthKey.allCases.map(\.rawValue)
    case .expect: ExpectKey.allCases.map(\.rawValue)
    case .tls: TLSKey.allCases.map(\.rawValue)
    case .poll: PollKey.allCases.map(\.rawValue)
    case .pages: PagesKey.allCases.map(\.rawValue)
    case .part: PartKey.allCases.map(\.rawValue)
    }
  }

  /// The keys as a list in a sentence.
  var listing: String { KeyOwner.vocabularies[self]?.listing ?? "" }

  /// The known key that was probably meant.
  func nearest(to key: String) -> String? {
    if let known = KeyOwner.elsewhere[key]?.first(where: keys.contains) { return known }
    // Nearly every two-letter word is one letter away from "id".
    guard key.count > 2 || key.lowercased() == "id" else { return nil }
    return KeyOwner.vocabularies[self]?.names.nearest(to: key)
  }

  private struct Vocabulary {
    let names: NearestName
    let listing: String

    init(_ keys: [String]) {
      names = NearestName(keys)
      listing = keys.joined(separator: ", ")
    }
  }

  private static let vocabularies: [KeyOwner: Vocabulary] = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0, Vocabulary($0.keys)) })
}
