import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A promise was released without having been settled.
public struct PromiseDroppedError: Error, Hashable, CustomStringConvertible {
  /// The file that made the promise, in the form of `#fileID`.
  public let file: String
  /// The line that made the promise, from 1.
  public let line: UInt

  /// The handler of dropped promises, which replaces a line on standard error. For tests.
  ///
  /// Called in debug builds of this library only, on the thread that released the promise and before the promise
  /// settles. `nil` restores the line.
  public static var reporter: (@Sendable (PromiseDroppedError) -> Void)? {
    get { current.withLock { $0.reporter } }
    set { current.withLock { $0.reporter = newValue } }
  }

  /// One sentence with the location.
  public var description: String { "promise made at \(file):\(line) was dropped unsettled" }

  /// A struct, because a bare closure in a mutex is wrapped in one more thunk at each read (Swift 6.3).
  private struct Current {
    var reporter: (@Sendable (PromiseDroppedError) -> Void)?
  }

  private static let current = Mutex(Current())

  func report() {
    if let reporter = Self.reporter { return reporter(self) }
    var text = description + "\n"
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// A failure type that can represent a dropped promise, so that its promises need no `ifDropped`.
public protocol DropRepresentable: Error {
  /// The failure with which a dropped promise settles.
  static func promiseDropped(_ dropped: PromiseDroppedError) -> Self
}

extension PromiseDroppedError: DropRepresentable {
  public static func promiseDropped(_ dropped: PromiseDroppedError) -> PromiseDroppedError {
    dropped
  }
}
