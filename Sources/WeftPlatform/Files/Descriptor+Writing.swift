import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Why bytes could not all be written.
package enum WriteFailure: Error, Hashable, Sendable {
  /// Whoever read them has gone away: `weft run | head -1`.
  case brokenPipe
  /// The disk, the quota or the size limit of a file.
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
  /// Writes all of `bytes`, in as many pieces as it takes; waits where the descriptor does not block.
  ///
  /// - Throws: With part of the bytes possibly written. A pipe without a reader is a failure here and no
  ///   signal.
  package func writeAll(_ bytes: UnsafeRawBufferPointer) throws(WriteFailure) {
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
      case let error: throw WriteFailure(error)
      }
    }
  }

  package func writeAll(_ bytes: [UInt8]) throws(WriteFailure) {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(WriteFailure) in try writeAll(bytes) }
    }
    try result.get()
  }

  package func writeAll(_ text: String) throws(WriteFailure) {
    try writeAll(Array(text.utf8))
  }

  /// Makes what was written survive a loss of power.
  package func synchronize() throws(SystemError) {
    _ = try retrying { fsync(number) }
  }
}
