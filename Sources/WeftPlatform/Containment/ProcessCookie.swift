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
      CgroupFile.contents(ofFile: "/proc/\(id)/environ")
    #else
      nil  // macOS shows it only to the process itself
    #endif
  }

  /// The value of a variable in an environment.
  package static func value(of name: String, in environment: [UInt8]) -> String? {
    let start = Array("\(name)=".utf8)
    let entry = environment.split(separator: 0).first { $0.starts(with: start) }
    return entry.map { String(decoding: $0.dropFirst(start.count), as: UTF8.self) }
  }
}
