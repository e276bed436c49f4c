import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why the kernel refused a call: an `errno` that has a name and cannot be mistaken for a count.
package struct SystemError: Error, Hashable, Sendable {
  private let number: Int32

  package init(number: Int32) {
    self.number = abs(number)
  }

  /// The error of the last failed call on this thread.
  static var last: SystemError { SystemError(number: errno) }

  package static let notFound = SystemError(number: ENOENT)
  package static let notPermitted = SystemError(number: EACCES)
  package static let notDirectory = SystemError(number: ENOTDIR)
  package static let isDirectory = SystemError(number: EISDIR)
  package static let alreadyExists = SystemError(number: EEXIST)
  package static let nameTooLong = SystemError(number: ENAMETOOLONG)
  package static let notExecutableFormat = SystemError(number: ENOEXEC)
  package static let argumentsTooBig = SystemError(number: E2BIG)
  package static let invalid = SystemError(number: EINVAL)
  package static let interrupted = SystemError(number: EINTR)
  package static let wouldBlock = SystemError(number: EAGAIN)
  package static let outOfMemory = SystemError(number: ENOMEM)
  package static let outOfDescriptors = SystemError(number: EMFILE)
  package static let outOfSystemDescriptors = SystemError(number: ENFILE)
  package static let brokenPipe = SystemError(number: EPIPE)
  package static let noSpace = SystemError(number: ENOSPC)
  package static let overQuota = SystemError(number: EDQUOT)
  package static let fileTooBig = SystemError(number: EFBIG)
  package static let readOnlyFileSystem = SystemError(number: EROFS)
  package static let textFileBusy = SystemError(number: ETXTBSY)

  /// "ENOENT"; "errno 2" if the system has no names.
  package var name: String {
    guard let name = weft_error_name(number) else { return "errno \(number)" }
    return String(cString: name)
  }

  /// "no such file or directory": the system's own text, as part of a sentence.
  package var text: String {
    let sentence = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      weft_error_text(number, buffer.baseAddress, buffer.count)
      return String(cString: buffer.baseAddress!)
    }
    return sentence.prefix(1).lowercased() + sentence.dropFirst()
  }

  /// Whether the call failed because resources are exhausted (descriptors, memory, processes), so that a later one may
  /// succeed.
  package var isShortage: Bool {
    [.outOfDescriptors, .outOfSystemDescriptors, .wouldBlock, .outOfMemory].contains(self)
  }
}

extension SystemError: CustomStringConvertible {
  package var description: String { "\(text) (\(name))" }
}

/// Returns `result`, or throws if it is a negated errno.
func checked<Count: BinaryInteger>(_ result: Count) throws(SystemError) -> Count {
  guard result < 0 else { return result }
  throw SystemError(number: Int32(truncatingIfNeeded: result))
}

/// Repeats a call that returns -1 and sets `errno` until no signal interrupts it.
func retrying<Count: BinaryInteger>(_ call: () -> Count) throws(SystemError) -> Count {
  while true {
    let result = call()
    if result >= 0 { return result }
    let error = SystemError.last
    if error != .interrupted { throw error }
  }
}
