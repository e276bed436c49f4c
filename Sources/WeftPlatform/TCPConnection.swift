#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Connections to servers, for the question whether one accepts any.
package enum TCPConnection {
  /// Whether a connection to one of a host's addresses can be opened. It is closed at once.
  ///
  /// It blocks the thread: for at most `milliseconds` on each address, and for as long as the system's resolver takes if `host`
  /// is a name.
  package static func isAccepted(at host: String, port: UInt16, milliseconds: Int32) -> Bool {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &first) == 0 else { return false }
    defer { freeaddrinfo(first) }
    var next = first
    while let address = next {
      if isAccepted(at: address.pointee, milliseconds: milliseconds) { return true }
      next = address.pointee.ai_next
    }
    return false
  }

  private static func isAccepted(at address: addrinfo, milliseconds: Int32) -> Bool {
    let kind = address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let socket = socket(address.ai_family, kind, address.ai_protocol)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    if connect(socket, address.ai_addr, address.ai_addrlen) == 0 { return true }
    guard errno == EINPROGRESS else { return false }
    var waiting = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
    guard poll(&waiting, 1, milliseconds) == 1 else { return false }
    var (fault, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &fault, &size) == 0 && fault == 0
  }
}
