#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open file, closed with its last reference.
package final class Descriptor: Sendable {
  package let number: Int32
  private let isOwned: Bool

  /// Takes over `number`, which nobody else may close from now on.
  package init(owning number: Int32) {
    self.number = number
    isOwned = true
  }

  private init(borrowing number: Int32) {
    self.number = number
    isOwned = false
  }

  deinit {
    if isOwned { close(number) }
  }

  /// The process's own; never closed.
  package static let standardInput = Descriptor(borrowing: STDIN_FILENO)
  package static let standardOutput = Descriptor(borrowing: STDOUT_FILENO)
  package static let standardError = Descriptor(borrowing: STDERR_FILENO)

  /// Someone else's, such as `--events fd:3`; never closed. `nil` when no file is open there.
  package static func inherited(_ number: Int32) -> Descriptor? {
    fcntl(number, F_GETFD) < 0 ? nil : Descriptor(borrowing: number)
  }
}
