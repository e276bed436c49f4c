import Testing

@testable import WeftHTTP

/// The suite http-tests/cache-tests, run against the cache in this process.
@Suite(
  .enabled(if: SuiteCase.isThere, "WEFT_SUITES names no folder with http-cache-tests/tests.json"))
struct ConformanceTests {
  /// Optional behaviour that this cache does not have. None of it is required.
  private static let exceptions: [String: String] = [
    "method-POST": aboutPost, "other-cookie": "a cookie is a credential, and answers cross none",
    "stale-while-revalidate": "nothing is asked behind the back of whoever asks",
    "vary-cache-key": aboutAskers, "vary-normalise-combine": aboutAskers,
    "vary-normalise-space": aboutAskers,
    "vary-normalise-lang-order": "there are servers that go by the order",
    "vary-normalise-lang-select": "languages are chosen by servers",
    "partial-store-partial-reuse-partial": aboutParts,
    "partial-store-partial-reuse-partial-absent": aboutParts,
    "partial-store-partial-reuse-partial-byterange": aboutParts,
    "partial-store-partial-reuse-partial-suffix": aboutParts,
    "partial-store-partial-complete": aboutParts,
    "partial-store-complete-reuse-partial": aboutParts,
    "partial-store-complete-reuse-partial-no-last": aboutParts,
    "partial-store-complete-reuse-partial-suffix": aboutParts,
  ]

  private static let aboutParts = "whoever asks for a part has the rest, and sees to it himself"
  private static let aboutAskers =
    "a header that is not known to be harmless belongs to whoever asks"
  private static let aboutPost = "no answer to a POST is stored"

  private enum Verdict: Equatable {
    case passed
    case failed(String)
    case notApplicable(String)

    /// Cases of the kind `check` are only reported as yes or no.
    func line(_ kind: SuiteCase.Kind) -> String {
      switch self {
      case .passed: kind == .check ? "yes" : "passed"
      case .failed(let why): (kind == .check ? "no: " : "failed: ") + why
      case .notApplicable(let why): "not applicable: \(why)"
      }
    }
  }

  /// Prints every case with its result.
  @Test func theSuiteIsPassedAsFarAsItIsAboutAPrivateCache() async throws {
    let cases = try SuiteCase.all()
    #expect(cases.count > 300)
    var verdicts: [String: Verdict] = [:]
    for test in cases { verdicts[test.id] = try await verdict(on: test) }
    for test in cases where !test.dependsOn.allSatisfy({ verdicts[$0] == .passed }) {
      if verdicts[test.id] != .passed, test.notApplicable == nil {
        let missing = test.dependsOn.first { verdicts[$0] != .passed } ?? ""
        verdicts[test.id] = .notApplicable("it builds on \(missing)")
      }
    }
    for test in cases {
      let reason = Self.exceptions[test.id].map { " (\($0))" } ?? ""
      print("\(test.id) [\(test.kind.rawValue)] \(verdicts[test.id]!.line(test.kind))\(reason)")
    }
    print(Self.summary(cases, verdicts))
    let failed = cases.filter { test in
      if case .failed = verdicts[test.id]! { test.kind != .check } else { false }
    }
    #expect(Set(failed.map(\.id)) == Set(Self.exceptions.keys))
  }

  private func verdict(on test: SuiteCase) async throws -> Verdict {
    if let reason = test.notApplicable { return .notApplicable(reason) }
    return switch try await SuiteRun(test).outcome() {
    case .passed: .passed
    case .failed(let why): .failed(why)
    case .notSetUp(let why): .notApplicable("its beginning is not as it needs it: \(why)")
    }
  }

  private static func summary(_ cases: [SuiteCase], _ verdicts: [String: Verdict]) -> String {
    let kinds: [SuiteCase.Kind] = [.required, .optimal, .check]
    return kinds.map { kind in
      let own = cases.filter { $0.kind == kind }.map { verdicts[$0.id]! }
      let passed = own.count { $0 == .passed }
      let failed = own.count { if case .failed = $0 { true } else { false } }
      let words = kind == .check ? ("yes", "no") : ("passed", "failed")
      return "\(kind.rawValue): \(passed) \(words.0), \(failed) \(words.1), "
        + "\(own.count - passed - failed) not applicable"
    }.joined(separator: "\n")
  }
}
