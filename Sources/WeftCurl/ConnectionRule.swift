/// The condition under which a request may reuse a connection.
struct ConnectionRule: Hashable {
  /// Whether sending it twice has the effect of sending it once.
  let isRepeatable: Bool
  /// Whether no other exchange with the same server is in progress that could share a connection.
  let isAlone: Bool
  /// Whether libcurl announces that it is about to send a request, so that a second sending can be prevented.
  let tellsSending: Bool

  /// Whether only a new connection is safe.
  ///
  /// When several requests share a connection, the server may give it up for some of them, which were then not
  /// processed (RFC 9113 §6.8). libcurl does not distinguish that from a broken connection, so a non-repeatable
  /// request would fail in doubt. As the first request on a connection, it counts as processed.
  ///
  /// If libcurl cannot be kept from resending a request when a used connection breaks, no used connection may be
  /// taken.
  var needsFreshConnection: Bool { !isRepeatable && (!isAlone || !tellsSending) }
}
