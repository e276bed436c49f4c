#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why a file that a different program should have written was not read.
package enum RegularFileError: Error, Hashable, Sendable {
  case missing
  /// It is no longer a regular file but, for example, a directory, a FIFO or a symbolic link.
  case replaced(by: String)
  case notRead(FileReadError)

  /// The error, to follow the name of the file.
  package var message: String {
    switch self {
    case .missing: "is not there any more"
    case .replaced(let kind): "was replaced by \(kind), expected a file"
    case .notRead(let failure): failure.message
    }
  }
}

extension FileReading {
  /// The bytes of a file that a program may have replaced by anything: follows no links, does not wait, and reads at
  /// most `limit` bytes of a file that is still growing.
  package static func bytes(
    ofRegularFile path: String, limit: Int
  ) throws(RegularFileError) -> [UInt8] {
    let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
    let file: OwnedDescriptor
    do {
      file = OwnedDescriptor(try retrying { open(path, flags) })
    } catch {
      throw RegularFileError(opening: error)
    }
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw .notRead(.system(.last)) }
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFREG else { throw .replaced(by: RegularFileError.noun(of: kind)) }
    do {
      return try FileReader(file: file.number, limit: limit, patience: nil).all()
    } catch {
      throw .notRead(error)
    }
  }
}

extension RegularFileError {
  fileprivate init(opening error: SystemError) {
    switch error {
    case .notFound: self = .missing
    case SystemError(number: ELOOP): self = .replaced(by: "a symbolic link")
    // FIFOs and sockets refuse some ways of opening; for a FIFO, those are not used here.
    case SystemError(number: ENXIO): self = .replaced(by: "a socket")
    default: self = .notRead(.system(error))
    }
  }

  static func noun(of kind: mode_t) -> String {
    switch kind {
    case S_IFDIR: "a directory"
    case S_IFIFO: "a FIFO"
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }
}
