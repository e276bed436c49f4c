#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension Descriptor {
  /// Opens a file for a program to read. A FIFO is not waited for: without a writer it reads as empty.
  package static func opened(forReading path: String) throws(SystemError) -> Descriptor {
    let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    let file = Descriptor(owning: try retrying { () -> Int32 in open(path, flags) })
    // The program that gets it expects reads that wait.
    _ = try retrying { () -> Int32 in
      fcntl(file.number, F_SETFL, fcntl(file.number, F_GETFL) & ~O_NONBLOCK)
    }
    return file
  }
}
