import Glibc

/// A server on its own port that treats each connection as the test says; it does not know HTTP.
final class HostileServer: Sendable {
  let port: Int
  private let listener: Int32
  private let state = Watched(State())

  private struct State {
    var connections: Set<Int32> = []
    var accepted = 0
    var isClosed = false
  }

  /// Lives until it is closed.
  ///
  /// - Parameter serve: Called on a thread of its own for each connection, which is then closed.
  init(backlog: Int32 = 512, _ serve: @escaping @Sendable (Connection) -> Void) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard bind(listener, address, size) == 0, listen(listener, backlog) == 0,
          getsockname(listener, address, &size) == 0
        else { fatalError("no listening socket: errno \(errno)") }
      }
    }
    self.listener = listener
    port = Int(UInt16(bigEndian: address.sin_port))
    detach {
      // The accepting thread closes it; otherwise its number might already be in use again.
      defer { Glibc.close(listener) }
      while true {
        let descriptor = accept(listener, nil, nil)
        if descriptor < 0 { return }
        guard let number = self.open(descriptor) else { return }
        detach {
          serve(Connection(descriptor: descriptor, number: number))
          self.end(descriptor)
        }
      }
    }
  }

  /// The URL of `path`, which begins with a slash.
  func url(_ path: String = "/", host: String = "127.0.0.1") -> String {
    "http://\(host):\(port)\(path)"
  }

  /// The number of connections so far.
  var accepted: Int { state.value.accepted }

  /// Waits on the calling thread until that many connections have been accepted.
  func waits(forConnections count: Int) { state.wait { $0.accepted >= count } }

  /// Ends all connections; the serving threads see them broken.
  func close() {
    state.change { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      shutdown(listener, Int32(SHUT_RDWR))
      for descriptor in state.connections { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
  }

  private func open(_ descriptor: Int32) -> Int? {
    state.change { state in
      if state.isClosed {
        Glibc.close(descriptor)
        return nil
      }
      state.connections.insert(descriptor)
      state.accepted += 1
      return state.accepted
    }
  }

  private func end(_ descriptor: Int32) {
    state.change { state in
      state.connections.remove(descriptor)
      Glibc.close(descriptor)
    }
  }
}

/// One connection to a ``HostileServer``. Failures to send are ignored.
struct Connection: Sendable {
  let descriptor: Int32
  /// Counts from 1.
  let number: Int

  /// The bytes up to the empty line; `nil` if the client has gone.
  func readHead() -> String? {
    var head: [UInt8] = []
    var byte: UInt8 = 0
    while !head.ends(with: Array("\r\n\r\n".utf8)) {
      guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
      head.append(byte)
    }
    return String(decoding: head, as: UTF8.self)
  }

  /// The head, and the body of the length that it announces.
  func readRequest() -> (head: String, body: [UInt8])? {
    guard let head = readHead() else { return nil }
    let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
    let length = line.flatMap { Int($0.dropFirst("content-length:".count).filter(\.isNumber)) } ?? 0
    return read(length).map { (head, $0) }
  }

  func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var got = 0
    while got < count {
      let part = bytes.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress! + got, count - got, 0)
      }
      if part <= 0 { return nil }
      got += part
    }
    return bytes
  }

  /// Returns false if the client has gone.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let part = bytes.withUnsafeBytes {
        Glibc.send(
          descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if part <= 0 { return false }
      sent += part
    }
    return true
  }

  @discardableResult
  func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Sends a response with that body.
  @discardableResult
  func answer(_ status: String = "200 OK", _ headers: [String] = [], body: String = "") -> Bool {
    let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
    return send(lines.map { $0 + "\r\n" }.joined() + "\r\n" + body)
  }

  /// Sends nothing more, until the client has gone.
  func waitForClient() {
    var byte: UInt8 = 0
    while recv(descriptor, &byte, 1, 0) > 0 {}
  }

  /// Closes the connection with RST instead of FIN.
  func resetAtEnd() {
    // struct linger: on, for zero seconds.
    var now: (Int32, Int32) = (1, 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<(Int32, Int32)>.size))
  }
}

extension Array where Element: Equatable {
  fileprivate func ends(with other: [Element]) -> Bool {
    count >= other.count && suffix(other.count).elementsEqual(other)
  }
}

/// Runs `body` on a thread of its own.
func detach(_ body: @escaping @Sendable () -> Void) {
  final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  pthread_attr_setstacksize(&attributes, 256 * 1024)
  defer { pthread_attr_destroy(&attributes) }
  var thread = pthread_t()
  let failed = pthread_create(
    &thread, &attributes,
    { context in
      Unmanaged<Box>.fromOpaque(context!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
  precondition(failed == 0, "no thread: \(failed)")
}
