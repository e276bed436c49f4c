import Glibc

/// A resolver that gets no answer, for the thread that enters it and the threads that this one creates.
struct BlackHole: Sendable {
  private let silent: Int32

  private typealias Unshare = @convention(c) (Int32) -> Int32
  private typealias Mount =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafePointer<CChar>, UnsafePointer<CChar>?, UInt,
      UnsafeRawPointer?
    ) -> Int32

  /// Replaces the system's resolver configuration in a mount namespace of its own: the new one names a port that never
  /// answers.
  ///
  /// - Returns: `nil` if that is not permitted.
  static func enter() -> BlackHole? {
    guard let silent = bindSilentPort() else { return nil }
    let scratch = Scratch()
    defer { scratch.remove() }
    let servers = "nameserver 127.0.0.53\noptions timeout:10\n"
    let resolver = scratch.file("resolv.conf", Array(servers.utf8))
    let names = scratch.file("nsswitch.conf", Array("hosts: dns\n".utf8))
    let isDone = replace([(resolver, "/etc/resolv.conf"), (names, "/etc/nsswitch.conf")])
    return isDone ? BlackHole(silent: silent) : nil
  }

  /// Returns when a query has arrived.
  func waitForQuestion() {
    var byte: UInt8 = 0
    _ = recv(silent, &byte, 1, 0)
  }

  /// A descriptor that stays open until the process ends.
  private static func bindSilentPort() -> Int32? {
    let silent = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(53).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0035).bigEndian
    let isBound = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(silent, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    return isBound ? silent : nil
  }

  /// Mounts the files. The overlay lacks the two functions.
  private static func replace(_ files: [(by: String, file: String)]) -> Bool {
    guard let unshare = dlsym(nil, "unshare"), let mount = dlsym(nil, "mount") else { return false }
    let newNamespace: Int32 = 0x0002_0000
    let (bind, recursive, isPrivate): (UInt, UInt, UInt) = (4096, 16384, 1 << 18)
    guard unsafeBitCast(unshare, to: Unshare.self)(newNamespace) == 0 else { return false }
    let call = unsafeBitCast(mount, to: Mount.self)
    guard call(nil, "/", nil, recursive | isPrivate, nil) == 0 else { return false }
    return files.allSatisfy { call($0.by, $0.file, nil, bind, nil) == 0 }
  }
}
