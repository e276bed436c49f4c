import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The size of a terminal's screen, in characters.
package struct TerminalSize: Hashable, Sendable {
  package var columns: Int
  package var rows: Int

  package init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }
}

extension Descriptor {
  package var isTerminal: Bool { isatty(number) == 1 }

  /// Whether it is this session's terminal, and a different group of the session is in the foreground.
  package var isTerminalOfOthers: Bool {
    let foreground = tcgetpgrp(number)
    return foreground > 0 && foreground != getpgrp()
  }

  /// The size; `nil` if it is not a terminal, or one that does not know its size (0 by 0, as a bare pty reports).
  package var terminalSize: TerminalSize? {
    var (columns, rows): (UInt16, UInt16) = (0, 0)
    guard weft_terminal_size(number, &columns, &rows) == 0, columns > 0, rows > 0 else {
      return nil
    }
    return TerminalSize(columns: Int(columns), rows: Int(rows))
  }
}
