/// Which connections will do for a request.
struct ConnectionRule: Hashable {
  /// Whether sending it twice has the effect of sending it once.
  let isRepeatable: Bool
  /// Whether nothing else is going on with the same server that might share a connection with it.
  let isAlone: Bool
  /// Whether libcurl tells when it is about to send a request, so that it can be kept from doing it twice.
  let tellsSending: Bool

  /// A connection that several requests share may be given up by the server for some of them, which were not done
  /// (RFC 9113 §6.8). libcurl does not tell that from one that broke, so a request that must not be done twice
  /// would fail in doubt. On one that it shares with none before it, the server counts it among the done.
  ///
  /// And where libcurl cannot be kept from sending a request again when a used connection breaks, there must be
  /// no used one.
  var needsFreshConnection: Bool { !isRepeatable && (!isAlone || !tellsSending) }
}
