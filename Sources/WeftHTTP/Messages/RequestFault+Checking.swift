/// The rules of ``WireRequest`` one by one, for who knows the parts of a request before the whole.
extension HTTPMethod {
  /// Whether it may be sent.
  package func check() throws(RequestFault) { try HeaderCheck.method(self) }

  /// Whether a request with it may have a body.
  package var mayHaveBody: Bool { !["HEAD", "TRACE"].contains(name) }
}

extension HTTPHeader {
  /// Whether a caller may give it.
  package func check() throws(RequestFault) { try HeaderCheck.given(self) }
}
