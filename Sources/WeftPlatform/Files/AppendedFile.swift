import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file to which whole records are appended, with one `write` for each: a record is written completely or, as far as
/// the system allows a partial one to be removed, not at all.
///
/// It has no lock: callers must hold one.
package struct AppendedFile: Sendable {
  package let file: Descriptor
  /// The end of the last complete record.
  package private(set) var length: Int
  /// Whether part of a record follows, because it could not be removed.
  private var isTorn = false
  private let calls: FileCalls

  /// - Parameters:
  ///   - file: Open for appending.
  ///   - length: The end of the last complete record and of the file.
  package init(_ file: Descriptor, length: Int, calls: FileCalls) {
    self.file = file
    self.length = length
    self.calls = calls
  }

  /// Appends all of the bytes; on an error, none.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    if isTorn { try takeBack() }
    var left = bytes
    do throws(SystemError) {
      while !left.isEmpty {
        let count = try calls.write(file, left)
        left = UnsafeRawBufferPointer(rebasing: left.dropFirst(count))
      }
    } catch {
      if left.count < bytes.count {
        isTorn = true
        try? takeBack()
      }
      throw error
    }
    length += bytes.count
  }

  private mutating func takeBack() throws(SystemError) {
    try calls.truncate(file, to: length)
    isTorn = false
  }

  /// Makes appended records survive a power loss. Must not be repeated after a failure.
  package func synchronize() throws(SystemError) { try calls.synchronizeData(file) }
}

/// Makes the writes of many threads durable with one call for all that wait: threads that arrive while the disk is busy
/// are served by the next call.
package final class GroupCommit: Sendable {
  private struct State {
    /// Records are numbered from 1.
    var written: UInt64 = 0
    var safe: UInt64 = 0
    var isCommitting = false
    var fault: SystemError?
    var waiting: [Parking] = []
  }

  private enum Turn {
    case over
    case failed(SystemError)
    case synchronize(upTo: UInt64)
    case wait(Parking)
  }

  private let state = Mutex(State())
  private let synchronize: @Sendable () throws(SystemError) -> Void

  /// - Parameter synchronize: Makes all written data durable. It is not called again after a failure, because a second
  ///   call would not detect the data lost in the first.
  package init(_ synchronize: @escaping @Sendable () throws(SystemError) -> Void) {
    self.synchronize = synchronize
  }

  /// Notes that a record has been written.
  package func recordWritten(_ number: UInt64) {
    state.withLock { $0.written = max($0.written, number) }
  }

  /// Blocks the calling thread until the record is durable.
  package func wait(for number: UInt64) throws(SystemError) {
    while true {
      switch turn(of: number) {
      case .over: return
      case .failed(let error): throw error
      case .wait(let parking): _ = parking.park(atMost: nil)
      case .synchronize(let last):
        let fault: SystemError?
        do {
          try synchronize()
          fault = nil
        } catch { fault = error }
        end(upTo: last, fault)
      }
    }
  }

  /// Makes all records durable that were written before this call.
  package func waitForAll() throws(SystemError) { try wait(for: state.withLock { $0.written }) }

  private func turn(of number: UInt64) -> Turn {
    state.withLock { state in
      if state.safe >= number { return .over }
      if let fault = state.fault { return .failed(fault) }
      guard state.isCommitting else {
        state.isCommitting = true
        return .synchronize(upTo: state.written)
      }
      let parking = Parking()
      state.waiting.append(parking)
      return .wait(parking)
    }
  }

  private func end(upTo last: UInt64, _ fault: SystemError?) {
    let waiting = state.withLock { state in
      state.isCommitting = false
      if let fault { state.fault = fault } else { state.safe = max(state.safe, last) }
      defer { state.waiting = [] }
      return state.waiting
    }
    for parking in waiting { parking.unpark() }
  }
}

/// Disk space reserved for the time when no other is left: a file without content.
package struct DiskReserve: Sendable {
  private let file: Descriptor
  private let calls: FileCalls
  private var isReleased = false

  /// - Throws: If the disk does not have that much space. If the system cannot reserve space, none is reserved, without
  ///   an error.
  package init(
    _ bytes: Int, named name: String, in directory: PrivateDirectory
  ) throws(UnsafePathError) {
    calls = directory.calls
    file = try directory.file(name, .makingOrAppending)
    do { try calls.reserve(bytes, in: file) } catch {
      switch error {
      case .noSpace, .overQuota, .fileTooBig, .readOnlyFileSystem:
        throw .system("\(directory.path)/\(name)", error)
      default: break
      }
    }
  }

  /// Releases the space.
  ///
  /// - Returns: False if it was released before, or if that fails.
  package mutating func release() -> Bool {
    guard !isReleased else { return false }
    isReleased = true
    return (try? calls.truncate(file, to: 0)) != nil
  }
}
