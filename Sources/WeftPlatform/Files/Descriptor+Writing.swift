import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why not all bytes could be written.
package enum WriteError: Error, Hashable, Sendable {
  /// The reader has gone away: `weft run | head -1`.
  case brokenPipe
  /// The disk is full, or the quota or the size limit of a file is reached.
  case noSpace(SystemError)
  case other(SystemError)

  package init(_ error: SystemError) {
    switch error {
    case .brokenPipe: self = .brokenPipe
    case .noSpace, .overQuota, .fileTooBig: self = .noSpace(error)
    default: self = .other(error)
    }
  }

  package var message: String {
    switch self {
    case .brokenPipe: "nobody reads any more: \(SystemError.brokenPipe)"
    case .noSpace(let error), .other(let error): error.description
    }
  }
}

extension Descriptor {
  /// Writes all of `bytes`, in as many pieces as needed; waits if the descriptor is non-blocking.
  ///
  /// - Throws: If a write fails; part of the bytes may have been written. A pipe without a reader is a failure and
  ///   raises no signal.
  package func writeAll(_ bytes: UnsafeRawBufferPointer) throws(WriteError) {
    var left = bytes
    while !left.isEmpty {
      let count = weft_write_quietly(number, left.baseAddress, left.count)
      if count >= 0 {
        left = UnsafeRawBufferPointer(rebasing: left.dropFirst(count))
        continue
      }
      switch SystemError(number: Int32(count)) {
      case .interrupted: continue
      case .wouldBlock: _ = weft_poll_one(number, Int16(POLLOUT), -1)
      case let error: throw WriteError(error)
      }
    }
  }

  package func writeAll(_ bytes: [UInt8]) throws(WriteError) {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(WriteError) in try writeAll(bytes) }
    }
    try result.get()
  }

  package func writeAll(_ text: String) throws(WriteError) {
    try writeAll(Array(text.utf8))
  }

  /// Makes the written data survive a power loss.
  package func synchronize() throws(SystemError) {
    _ = try retrying { fsync(number) }
  }
}
