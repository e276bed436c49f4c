import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The terminal of this process's session, wherever its standard streams lead (`/dev/tty`).
package struct ControllingTerminal: Sendable {
  package let descriptor: Descriptor

  /// - Throws: `.missing` when the session has no terminal.
  package init() throws(TerminalUnavailable) {
    do {
      descriptor = Descriptor(owning: try retrying { open("/dev/tty", O_RDWR | O_CLOEXEC) })
    } catch {
      throw .missing(error)
    }
  }

  /// The group that the terminal's keys send signals to, and that may read from it.
  var foregroundGroup: Int32 {
    get { tcgetpgrp(descriptor.number) }
    nonmutating set { _ = weft_terminal_lend(descriptor.number, newValue) }
  }

  /// Whether that is this process's own.
  package var isForeground: Bool { foregroundGroup == getpgrp() }

  var modes: TerminalModes? {
    get { TerminalModes(of: descriptor) }
    nonmutating set { newValue?.apply(to: descriptor) }
  }

  /// Undoes what a program that draws on the whole screen would have undone at its end: the alternate
  /// screen, the hidden cursor, colours, bracketed paste, mouse reports, application keys.
  ///
  /// Does nothing while the terminal takes no output, as after ^S.
  func restoreScreen() {
    guard weft_poll_one(descriptor.number, Int16(POLLOUT), 0) == 1 else { return }
    try? descriptor.writeAll(Self.restoringSequence)
  }

  /// The cursor is saved first, because leaving the alternate screen brings the saved one back: on the
  /// alternate screen the save is that screen's own and is lost with it, on the normal one it makes the
  /// sequence move nothing (xterm, "Control Sequences", DECSET 1049).
  private static let restoringSequence =
    "\u{1B}7\u{1B}[?1049l\u{1B}[?25h\u{1B}[0m\u{1B}[?2004l"
    + "\u{1B}[?1000l\u{1B}[?1002l\u{1B}[?1003l\u{1B}[?1006l\u{1B}[?1l\u{1B}>"
}

/// How a terminal treats what is typed: echo, lines, signals (termios).
struct TerminalModes: Sendable {
  private let modes: termios

  fileprivate init?(of terminal: Descriptor) {
    var modes = termios()
    guard tcgetattr(terminal.number, &modes) == 0 else { return nil }
    self.modes = modes
  }

  fileprivate func apply(to terminal: Descriptor) {
    withUnsafePointer(to: modes) { _ = weft_terminal_set_modes(terminal.number, $0) }
  }
}

/// Why a program does not get the terminal.
package enum TerminalUnavailable: Error, Hashable, Sendable {
  /// The program that runs the workflow lends none.
  case notOffered
  /// There is none.
  case missing(SystemError)
  /// There is one, and somebody else is using it.
  case inBackground

  /// What was found, as a part of a sentence.
  package var message: String {
    switch self {
    case .notOffered: "it needs a terminal, and the program that runs this workflow offers none"
    case .missing: "it needs a terminal, and there is none"
    case .inBackground: "it needs the terminal, and weft is in the background"
    }
  }

  /// The cure.
  package var help: String {
    switch self {
    case .notOffered, .missing: "run the workflow from a terminal, or leave out `tty`"
    case .inBackground: "start weft without &, or bring it to the foreground (fg) before this step"
    }
  }

  /// The system's answer, where it was asked.
  package var error: SystemError? {
    if case .missing(let error) = self { error } else { nil }
  }
}
