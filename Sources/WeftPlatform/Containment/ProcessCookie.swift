import WeftEncoding

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

/// A random number of 128 bits that one engine puts into the environment of every program of its run, and nowhere else.
///
/// It is kept in the run's journal, which only its owner can read. `weft resume` and `weft reap` use it to recognize
/// the processes that an engine has started; a name that any process can put into an environment proves nothing.
package struct EngineCookie: Hashable, Sendable {
  /// 32 hexadecimal digits.
  package let text: String

  /// Creates a new random cookie.
  package init() {
    text = (0..<2).map { _ in
      let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Parses a cookie; `nil` for anything but 32 lower-case hexadecimal digits.
  package init?(_ text: String) {
    guard text.utf8.count == 32, text.utf8.allSatisfy(\.isHexadecimalDigit) else { return nil }
    self.text = text
  }

  /// A hash of the cookie, for names that are readable by everyone: 16 hexadecimal digits.
  package var mark: String {
    String(SHA256.text(of: SHA256.digest(of: Array(text.utf8))).prefix(16))
  }
}

/// The form of a run's id: `20261120-233012-4f2a9c`.
package enum RunName {
  /// Whether a text is an id: it then contains nothing that could lead out of a directory.
  package static func isWellFormed(_ text: String) -> Bool {
    text.utf8.count == shape.count && isBeginning(text)
  }

  /// Whether a text is the beginning of an id.
  package static func isBeginning(_ text: String) -> Bool {
    text.utf8.count <= shape.count
      && zip(text.utf8, shape).allSatisfy { byte, wanted in
        switch wanted {
        case UInt8(ascii: "d"): byte.isDecimalDigit
        case UInt8(ascii: "x"): byte.isHexadecimalDigit
        default: byte == wanted
        }
      }
  }

  package static let bytes = shape.count
  private static let shape = Array("dddddddd-dddddd-xxxxxx".utf8)
}

extension UInt8 {
  fileprivate var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  /// Whether it is a hexadecimal digit in lower case.
  fileprivate var isHexadecimalDigit: Bool {
    isDecimalDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
  }
}
