#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An open file, closed with its last reference.
package final class Descriptor: Sendable {
  package let number: Int32
  private let isOwned: Bool

  /// Takes over `number`, which no other code may close from now on.
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

  /// Standard input of the process; never closed.
  package static let standardInput = Descriptor(borrowing: STDIN_FILENO)
  package static let standardOutput = Descriptor(borrowing: STDOUT_FILENO)
  package static let standardError = Descriptor(borrowing: STDERR_FILENO)

  /// A descriptor owned by other code, such as `--events fd:3`; never closed. `nil` if it is not open.
  package static func inherited(_ number: Int32) -> Descriptor? {
    fcntl(number, F_GETFD) < 0 ? nil : Descriptor(borrowing: number)
  }
}
