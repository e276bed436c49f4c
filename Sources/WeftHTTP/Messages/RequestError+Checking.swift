/// The checks of ``WireRequest`` one by one, for callers that know parts of a request before the whole.
extension HTTPMethod {
  /// Validates the method.
  package func check() throws(RequestError) { try HeaderCheck.method(self) }

  /// Whether a request with this method may have a body.
  package var mayHaveBody: Bool { !["HEAD", "TRACE"].contains(name) }
}

extension HTTPHeader {
  /// Validates a header that a caller sets.
  package func check() throws(RequestError) { try HeaderCheck.given(self) }
}
