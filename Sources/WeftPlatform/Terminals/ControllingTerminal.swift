import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The terminal of this process's session, wherever its standard streams lead (`/dev/tty`).
package struct ControllingTerminal: Sendable {
  package let descriptor: Descriptor

  /// - Throws: `.missing` if the session has no terminal.
  package init() throws(TerminalError) {
    do {
      descriptor = Descriptor(owning: try retrying { open("/dev/tty", O_RDWR | O_CLOEXEC) })
    } catch {
      throw .missing(error)
    }
  }

  /// The group that receives the signals of the terminal's keys, and that may read from it.
  var foregroundGroup: Int32 {
    get { tcgetpgrp(descriptor.number) }
    nonmutating set { _ = weft_terminal_lend(descriptor.number, newValue) }
  }

  /// Whether the foreground group is this process's own.
  package var isForeground: Bool { foregroundGroup == getpgrp() }

  /// Whether another group than this process's own is in the foreground; false if the terminal is gone.
  var isInBackground: Bool {
    let group = foregroundGroup
    return group >= 0 && group != getpgrp()
  }

  /// Waits until this process is in the foreground. Nothing reports that: CONT is only sent to stopped processes.
  ///
  /// - Returns: Whether it is, and no stop was requested.
  package func waitForForeground(stop: StopSwitch) -> Bool {
    let wakeup = Wakeup()
    stop.attach(wakeup)
    defer { stop.detach(wakeup) }
    while stop.level == .none {
      if isForeground { return true }
      wakeup.wait(atMost: .milliseconds(100))
    }
    return false
  }

  var modes: TerminalModes? {
    get { TerminalModes(of: descriptor) }
    nonmutating set { newValue?.apply(to: descriptor) }
  }

  /// The answer to a question.
  package enum Reply: Hashable, Sendable {
    /// Without its line end.
    case line(String)
    /// The end of input (^D), or a terminal that is gone.
    case end
    /// ^C or ^\, while input is hidden; otherwise they end the process.
    case interrupt
  }

  /// Writes a prompt and waits for a line. After ^Z and `fg`, it writes the prompt again. To be called before the program
  /// listens for signals.
  ///
  /// - Parameter isHidden: Whether what is typed is not shown. The keys then send no signals, so that none leaves a
  ///   terminal behind that hides everything.
  package func reply(to prompt: String, isHidden: Bool = false) -> Reply {
    let before = isHidden ? modes : nil
    defer { modes = before }
    var action = sigaction()
    weft_interrupt_on_continue(&action)
    defer { sigaction(SIGCONT, &action, nil) }
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 512)
    var isShown = false
    while true {
      if !isShown {
        modes = before?.hidingInput
        guard (try? descriptor.writeAll(prompt)) != nil else { return .end }
        isShown = true
      }
      let count = read(descriptor.number, &buffer, buffer.count)
      if count < 0, errno == EINTR {
        (line, isShown) = ([], false)
        continue
      }
      line += buffer[..<max(count, 0)]
      switch line.last {
      case UInt8(ascii: "\n"): return .line(String(decoding: line.dropLast(), as: UTF8.self))
      case TerminalModes.interruptKey where isHidden, TerminalModes.quitKey where isHidden:
        try? descriptor.writeAll("\n")
        return .interrupt
      default: break
      }
      guard count > 0 else {
        try? descriptor.writeAll("\n")
        return .end
      }
    }
  }

  /// Undoes the settings that a full-screen program would have undone at its end: the alternate screen, the hidden
  /// cursor, colours, bracketed paste, mouse reports, application keys.
  ///
  /// Does nothing while the terminal takes no output, as after ^S.
  func restoreScreen() {
    guard weft_poll_one(descriptor.number, Int16(POLLOUT), 0) == 1 else { return }
    try? descriptor.writeAll(Self.restoringSequence)
  }

  /// The cursor is saved first, because leaving the alternate screen restores the saved cursor. On the alternate
  /// screen, the save belongs to that screen and is lost with it; on the normal one, it keeps the sequence from moving
  /// the cursor (xterm, "Control Sequences", DECSET 1049).
  private static let restoringSequence =
    "\u{1B}7\u{1B}[?1049l\u{1B}[?25h\u{1B}[0m\u{1B}[?2004l"
    + "\u{1B}[?1000l\u{1B}[?1002l\u{1B}[?1003l\u{1B}[?1006l\u{1B}[?1l\u{1B}>"
}

/// The modes in which a terminal processes its input: echo, lines, signals (termios).
struct TerminalModes: Sendable {
  private let modes: termios

  fileprivate init?(of terminal: Descriptor) {
    var modes = termios()
    guard tcgetattr(terminal.number, &modes) == 0 else { return nil }
    self.modes = modes
  }

  /// ^C and ^\.
  fileprivate static let (interruptKey, quitKey): (UInt8, UInt8) = (0x03, 0x1C)

  fileprivate init(_ modes: termios) { self.modes = modes }

  /// The modes in which only the end of a line is shown, and ^C and ^\ end a line instead of sending a signal.
  fileprivate var hidingInput: TerminalModes {
    var modes = modes
    modes.c_lflag &= ~tcflag_t(ECHO | ISIG)
    modes.c_lflag |= tcflag_t(ICANON | ECHONL)
    withUnsafeMutableBytes(of: &modes.c_cc) { keys in
      keys[Int(VEOL)] = TerminalModes.interruptKey
      keys[Int(VEOL2)] = TerminalModes.quitKey
    }
    return TerminalModes(modes)
  }

  fileprivate func apply(to terminal: Descriptor) {
    withUnsafePointer(to: modes) { _ = weft_terminal_set_modes(terminal.number, $0) }
  }
}

/// The reason why a program does not get the terminal.
package enum TerminalError: Error, Hashable, Sendable {
  /// The program that runs the workflow offers no terminal.
  case notOffered
  /// There is no terminal.
  case missing(SystemError)
  /// There is a terminal, but a different group is in its foreground.
  case inBackground

  /// The error, as part of a sentence.
  package var message: String {
    switch self {
    case .notOffered: "it needs a terminal, but the program that runs this workflow offers none"
    case .missing: "it needs a terminal, but there is none"
    case .inBackground: "it needs the terminal, but weft is in the background"
    }
  }

  /// The suggested remedy.
  package var help: String {
    switch self {
    case .notOffered, .missing: "run the workflow from a terminal, or remove \"tty\""
    case .inBackground: "start weft without &, or bring it to the foreground (fg) before this step"
    }
  }

  /// The system's error; `nil` if the system was not involved.
  package var error: SystemError? {
    if case .missing(let error) = self { error } else { nil }
  }
}

/// The size of a terminal's screen, in characters.
package struct TerminalSize: Hashable, Sendable {
  package var columns: Int
  package var rows: Int
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
