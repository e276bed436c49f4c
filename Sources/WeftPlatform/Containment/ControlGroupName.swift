/// The name of the control group that one engine creates for its run: `weft-RUN-MARK`, where MARK is a hash of the
/// engine's cookie. A name that only begins with `weft-` may belong to other software, such as a systemd unit.
package struct ControlGroupName: Hashable, Sendable {
  package let run: String
  /// ``EngineCookie/mark``.
  package let mark: String

  private static let prefix = "weft-"

  package init(run: String, cookie: EngineCookie) {
    self.run = run
    mark = cookie.mark
  }

  /// Parses the name of a group; `nil` if Weft does not create groups with such names.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    let parts = text.dropFirst(Self.prefix.count).split(
      separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 4, let mark = parts.last, mark.utf8.count == 16,
      mark.allSatisfy({ $0.isASCII && $0.isHexDigit && !$0.isUppercase })
    else { return nil }
    let run = parts.dropLast().joined(separator: "-")
    guard RunName.isWellFormed(run) else { return nil }
    self.run = run
    self.mark = String(mark)
  }

  package var text: String { "\(Self.prefix)\(run)-\(mark)" }
}
