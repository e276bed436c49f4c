#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Environment entries that identify a program's descendants, unless they have cleared their environment.
package struct ProcessCookie: Hashable, Sendable {
  private let entries: [[UInt8]]

  /// - Parameter entries: `NAME=value` each.
  package init(_ entries: [String]) {
    self.entries = entries.map { Array($0.utf8) }
  }

  /// Whether the environment contains all entries.
  package func isIn(_ environment: [UInt8]) -> Bool {
    var missing = entries
    for entry in environment.split(separator: 0) where !missing.isEmpty {
      missing.removeAll { entry.elementsEqual($0) }
    }
    return missing.isEmpty
  }

  /// The environment that a process's program was started with, entries terminated by NUL; `nil` if it cannot be read:
  /// the process belongs to a different user or has gone.
  package static func environment(of id: Int32) -> [UInt8]? {
    #if os(Linux)
      // While a process changes its program it shows neither arguments nor environment, for an instant or, on a busy
      // machine, for longer.
      for _ in 0..<200 {
        guard let environment = CgroupFile.contents(ofFile: "/proc/\(id)/environ") else {
          return nil
        }
        if !environment.isEmpty || !isChangingProgram(id) { return environment }
        usleep(500)
      }
      return []
    #else
      nil  // macOS shows it only to the process itself
    #endif
  }

  #if os(Linux)
    /// Whether a process has a program, unlike a zombie or a thread of the kernel, and no arguments yet.
    private static func isChangingProgram(_ id: Int32) -> Bool {
      var byte: CChar = 0
      return CgroupFile.contents(ofFile: "/proc/\(id)/cmdline")?.isEmpty == true
        && readlink("/proc/\(id)/exe", &byte, 1) > 0
    }
  #endif

  /// The value of a variable in an environment.
  package static func value(of name: String, in environment: [UInt8]) -> String? {
    let start = Array("\(name)=".utf8)
    let entry = environment.split(separator: 0).first { $0.starts(with: start) }
    return entry.map { String(decoding: $0.dropFirst(start.count), as: UTF8.self) }
  }
}
