import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The process of the engine.
package enum ThisProcess {
  package static var id: Int32 { getpid() }

  /// The name of its user, as set by the login; otherwise the user's number.
  package static var userName: String {
    for name in ["LOGNAME", "USER"] {
      if let user = variable(name), !user.isEmpty { return user }
    }
    return "user \(geteuid())"
  }

  package static var session: Int32 { getsid(0) }

  /// An identity distinct from that of every other process that has had or will have its id.
  package static var identity: ProcessIdentity {
    ProcessStatus(of: id)?.identity ?? ProcessIdentity(id: id, startTicks: 0)
  }

  /// The number of the namespace that its process ids belong to (Linux, `pid_namespaces(7)`); 0 if there are no
  /// namespaces.
  package static let idNamespace: UInt64 = {
    #if os(Linux)
      var status = stat()
      return stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    #else
      return 0
    #endif
  }()

  /// The number of processors it may run on, at least 1.
  package static var processorCount: Int { Int(weft_processor_count()) }

  /// The value of an environment variable, byte for byte.
  package static func variableBytes(_ name: String) -> [UInt8]? {
    guard let value = getenv(name) else { return nil }
    return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  /// Sends TSTP to this process's own group, as ^Z does to the foreground group.
  ///
  /// - Returns: False, without sending anything, if this process ignores TSTP: its parent then has no job control.
  static func stopJob() -> Bool {
    guard weft_signal_is_ignored(SIGTSTP) == 0 else { return false }
    return kill(0, SIGTSTP) == 0
  }
}
