import WeftEvents
import WeftHTTP

/// Formats sizes in powers of a thousand; truncated, never rounded up.
package enum ShownSize {
  /// Returns `512 B`, `1.2 kB`, `84 kB`, `3.1 MB`.
  package static func text(_ bytes: Int) -> String {
    var unit = 1
    for name in ["B", "kB", "MB", "GB"] {
      let whole = bytes / unit
      if whole < 1000 || name == "GB" {
        guard unit > 1, whole < 10 else { return "\(whole) \(name)" }
        return "\(whole).\(bytes * 10 / unit % 10) \(name)"
      }
      unit *= 1000
    }
    return "\(bytes) B"
  }
}

extension HTTPSummary {
  /// The response, for use after the duration: "200, 12 kB".
  var phrase: String? {
    guard let status else { return nil }
    if let staleReason { return "\(status), a stale response from the cache: \(staleReason)" }
    if cache == "hit" { return "\(status) from the cache" }
    var phrase = "\(status), \(ShownSize.text(figures.bodyBytesReceived))"
    if figures.requests > redirects + 1 { phrase += " in \(figures.requests) requests" }
    if cache == "revalidated" { phrase += ", as in the cache" }
    if let savedTo { phrase += " to \(savedTo)" }
    return phrase
  }
}
