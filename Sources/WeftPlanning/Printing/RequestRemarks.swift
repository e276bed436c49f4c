import WeftDefinition

/// Remarks on a request: names only, because values may be confidential.
enum RequestRemarks {
  static func remarks(on call: HTTPCall) -> [String] {
    [
      names("query", call.query), names("headers", call.headers),
      call.body.kind.map { "sends \($0)" }, auth(of: call),
      call.saveTo.map { "saves to \($0)" }, cache(of: call),
      call.shownProxy.map { "through the proxy \($0)" },
      call.polling.map {
        "asks every \(DurationText.text(of: $0.every)) until \(ControlRemarks.bare($0.until))"
      },
      paging(of: call),
      call.expectation.statuses == ["2xx"]
        ? nil : "expects \(call.expectation.statuses.joined(separator: ", "))",
    ].compactMap(\.self)
  }

  private static func names(_ what: String, _ fields: [HTTPCall.Field]) -> String? {
    fields.isEmpty ? nil : "\(what) \(fields.map(\.name).joined(separator: ", "))"
  }

  private static func cache(of call: HTTPCall) -> String? {
    switch call.cache {
    case .ofRun: "keeps the answer for the run"
    case .folder(let path): "keeps the answer in \(path)"
    case nil: nil
    }
  }

  private static func auth(of call: HTTPCall) -> String? {
    switch call.auth {
    case .bearer: "with a token"
    case .basic: "with a password"
    case nil: nil
    }
  }

  private static func paging(of call: HTTPCall) -> String? {
    switch call.paging?.next {
    case .link: "reads pages by Link"
    case .computed(let next): "reads pages by \(ControlRemarks.bare(next))"
    case nil: nil
    }
  }
}

extension HTTPCall {
  /// The URL as written, but without a user and password.
  package var shownURL: String { Self.withoutCredentials(url) }

  /// The proxy as written, but without a user and password; `nil` if there is none.
  package var shownProxy: String? {
    proxy.map { $0 == "env" ? "of the environment" : Self.withoutCredentials($0) }
  }

  private static func withoutCredentials(_ url: String) -> String {
    let bytes = Array(url.utf8)
    guard let start = url.firstRange(ofUTF8: "://") else { return url }
    let rest = bytes[start...]
    let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    guard let at = rest[..<end].lastIndex(of: UInt8(ascii: "@")) else { return url }
    return String(decoding: bytes[..<start] + Array("***".utf8) + bytes[at...], as: UTF8.self)
  }
}

extension HTTPCall.Body {
  /// The kind of body in one word; `nil` if there is none.
  var kind: String? {
    switch self {
    case .none: nil
    case .json: "json"
    case .text: "text"
    case .form: "form"
    case .multipart: "multipart"
    case .file(let path): "the file \(path)"
    }
  }
}

extension String {
  /// The offset after the first occurrence of an ASCII text.
  fileprivate func firstRange(ofUTF8 text: String) -> Int? {
    let (bytes, wanted) = (Array(utf8), Array(text.utf8))
    guard bytes.count >= wanted.count else { return nil }
    return (0...(bytes.count - wanted.count)).first { bytes[$0...].starts(with: wanted) }
      .map { $0 + wanted.count }
  }
}
