import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension TerminalLoan {
  /// The interval between checks for a stop, in milliseconds.
  private static let attention: Int32 = 50

  /// Writes a prompt and reads input up to the end of the line.
  ///
  /// - Returns: The line; `nil` if a stop was requested, or at the end of input (^D).
  package func line(after prompt: String, stop: StopSwitch) -> String? {
    let terminal = descriptor.number
    var prompt = Array(prompt.utf8)[...]
    while !prompt.isEmpty {
      let count = prompt.withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { return nil }
      prompt = prompt.dropFirst(max(count, 0))
    }
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 512)
    while stop.level == .none {
      var request = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, TerminalLoan.attention) > 0 else { continue }
      let count = read(terminal, &buffer, buffer.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else { break }
      line += buffer[..<count]
      if line.contains(UInt8(ascii: "\n")) { return String(decoding: line, as: UTF8.self) }
    }
    // Later output begins on a new line.
    _ = write(terminal, "\n", 1)
    return nil
  }
}
