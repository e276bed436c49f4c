import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The process that the engine is part of.
package enum ThisProcess {
  package static var id: Int32 { getpid() }

  /// The name of the user whose process it is, as the login has set it; else the number of the user.
  package static var userName: String {
    for name in ["LOGNAME", "USER"] {
      if let user = variable(name), !user.isEmpty { return user }
    }
    return "user \(geteuid())"
  }

  package static var session: Int32 { getsid(0) }

  /// Told from every other process that has had or will have its id.
  package static var identity: ProcessIdentity {
    ProcessStatus(of: id)?.identity ?? ProcessIdentity(id: id, startTicks: 0)
  }

  /// Tells the namespace that its process ids are of (Linux, `pid_namespaces(7)`) from others; 0 where
  /// there are none.
  package static let idNamespace: UInt64 = {
    #if os(Linux)
      var status = stat()
      return stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    #else
      return 0
    #endif
  }()

  /// How many processors it may run on, at least 1.
  package static var processorCount: Int { Int(weft_processor_count()) }

  /// The value of an environment variable, byte for byte.
  package static func variableBytes(_ name: String) -> [UInt8]? {
    guard let value = getenv(name) else { return nil }
    return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  /// Sends TSTP to this process's own group, as ^Z does to the foreground's.
  ///
  /// - Returns: False, and nothing is sent, when this process ignores it: whoever started it controls no
  ///   jobs.
  static func stopJob() -> Bool {
    guard weft_signal_is_ignored(SIGTSTP) == 0 else { return false }
    return kill(0, SIGTSTP) == 0
  }
}
