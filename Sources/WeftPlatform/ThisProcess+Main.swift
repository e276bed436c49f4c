import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a program's `main` asks of the process that it is.
extension ThisProcess {
  /// Its arguments as bytes, without the program's own name: a path need not be UTF-8.
  package static var arguments: [[UInt8]] {
    (1..<max(1, Int(CommandLine.argc))).map { index in
      guard let argument = CommandLine.unsafeArgv[index] else { return [] }
      return UnsafeBufferPointer(start: argument, count: strlen(argument)).map {
        UInt8(bitPattern: $0)
      }
    }
  }

  /// The value of an environment variable; what is not UTF-8 in it is repaired.
  package static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Fills the places of standard streams that were closed, so that no file which is opened later gets
  /// their number and is written to by mistake. Reading gives nothing, writing fails.
  package static func fillStandardStreams() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // The lowest free number is this one.
      _ = open("/dev/null", O_RDONLY)
    }
  }

  /// Keeps what this process has in memory and in its environment from other processes of the same user,
  /// and out of core files (Linux, `PR_SET_DUMPABLE` of prctl(2)); the programs that it starts are not
  /// concerned. Root is not kept from anything. Where the system cannot, nothing happens.
  package static func hideMemory() { weft_hide_memory() }

  /// Stops this process as TSTP does by default, and returns when it has been continued. TSTP must not be
  /// ignored. Returns at once where nobody could continue it (the system does not stop orphaned groups).
  package static func stop() { weft_signal_stop(SIGTSTP) }

  /// Ends now, on whichever thread this is; nothing is flushed and no other code runs.
  package static func exit(_ status: Int32) -> Never { _exit(status) }
}
