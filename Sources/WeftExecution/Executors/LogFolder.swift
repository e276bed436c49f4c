import WeftDefinition
import WeftEncoding
import WeftEvents
package import WeftPlanning
package import WeftPlatform

/// The folder of the steps' logs, one file for each step.
package struct LogFolder: Sendable {
  private let directory: PrivateDirectory

  package init(_ directory: PrivateDirectory) {
    self.directory = directory
  }

  /// The file name of a step's log: its address, with all characters but letters, digits and a few signs
  /// escaped as `%41`. A long one is cut, and made unique by the SHA-256 of the address.
  package static func fileName(of step: StepAddress) -> String {
    var name: [UInt8] = []
    for byte in step.text.utf8 {
      if isPlain(byte), byte != UInt8(ascii: ".") || !name.isEmpty {
        name.append(byte)
      } else {
        name += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0xF)]
      }
    }
    if name.count > nameBytes {
      let hash = SHA256.text(of: SHA256.digest(of: step.text.utf8)).utf8.prefix(hashDigits)
      name = name.prefix(nameBytes) + [UInt8(ascii: "~")] + hash
    }
    return String(decoding: name, as: UTF8.self) + ".log"
  }

  /// Short enough to be a valid file name everywhere, including the suffix.
  private static let nameBytes = 200
  /// 128 bits: collisions are infeasible.
  private static let hashDigits = 32

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: [".", "_", "-", "[", "]", "+", "=", "@", ","].contains { UInt8(ascii: $0) == byte }
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  /// A step's log, opened for reading; `nil` if there is none, or if it is not a file owned by this user.
  package func log(of step: StepAddress, forWriting: Bool = false) -> Descriptor? {
    try? open(step, isNew: forWriting)
  }

  /// - Parameter isNew: Whether to create the file if it does not exist.
  func open(_ step: StepAddress, isNew: Bool) throws(WriteError) -> Descriptor {
    do {
      return try directory.file(
        LogFolder.fileName(of: step), isNew ? .makingOrAppending : .reading)
    } catch {
      throw error.error.map { WriteError($0) } ?? .other(.notPermitted)
    }
  }
}

/// The logs of steps that are files in a folder.
struct FolderLogs {
  /// Addresses of steps that have begun, by their numbers.
  var names: [Int: StepAddress] = [:]
  /// The offset at which this engine's log begins in the file, after the output of previous engines.
  private var bases: [Int: Int] = [:]
  private var open: [Int: Descriptor] = [:]

  /// The destination of a step's output: an open file, or one to be opened.
  enum Place {
    case file(Descriptor)
    /// - Parameter isNew: Whether this engine has written nothing to it.
    case name(StepAddress, isNew: Bool)

    /// - Returns: The file, if it had to be opened first.
    func append(
      _ bytes: [UInt8], in folder: LogFolder, _ reserve: DescriptorReserve
    ) throws(WriteError) -> Opened? {
      func write(to file: Descriptor, stays: Bool) throws(WriteError) -> Opened {
        var base = (try? file.byteCount()) ?? 0
        // A previous engine may have left an unfinished line.
        if case .name(_, isNew: true) = self, base > 0,
          (try? file.piece(at: base - 1, atMost: 1)) != StepLogs.newline
        {
          try file.writeAll(StepLogs.newline)
          base += 1
        }
        try file.writeAll(bytes)
        return Opened(file: stays ? file : nil, base: base)
      }
      switch self {
      case .file(let file):
        try file.writeAll(bytes)
        return nil
      case .name(let name, _):
        do throws(WriteError) {
          return try write(to: folder.open(name, isNew: true), stays: true)
        } catch {
          guard error.error.isShortage else { throw error }
          return try reserve.spend { () throws(WriteError) in
            try write(to: folder.open(name, isNew: true), stays: false)
          }
        }
      }
    }
  }

  struct Opened {
    /// `nil` if it was closed again, for want of descriptors.
    let file: Descriptor?
    /// The bytes that an earlier attempt or a previous engine has written to it.
    let base: Int
  }

  /// `nil` for a step that has not begun.
  func place(of step: Int) -> Place? {
    open[step].map(Place.file)
      ?? names[step].map { Place.name($0, isNew: bases[step] == nil) }
  }

  mutating func keep(_ opened: Opened, of step: Int) {
    open[step] = opened.file
    if bases[step] == nil { bases[step] = opened.base }
  }

  /// Adds a log that a previous engine has written, from `base` on in its file.
  mutating func adopt(_ step: Int, _ address: StepAddress, base: Int) {
    names[step] = address
    bases[step] = base
  }

  mutating func close(_ step: Int) { open[step] = nil }

  mutating func forget(_ step: Int) {
    names[step] = nil
    bases[step] = nil
    open[step] = nil
  }

  /// A range of a log, as far as it exists.
  func bytes(
    in range: Range<Int>, of step: Int, in folder: LogFolder
  ) throws(SystemError) -> [UInt8] {
    guard !range.isEmpty, let name = names[step], let base = bases[step] else { return [] }
    let file: Descriptor
    do throws(WriteError) {
      if let opened = open[step] {
        file = opened
      } else {
        file = try folder.open(name, isNew: false)
      }
    } catch {
      throw error.error
    }
    return try file.piece(at: base + range.lowerBound, atMost: range.count)
  }
}
