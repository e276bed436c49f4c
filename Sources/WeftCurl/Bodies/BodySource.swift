import WeftHTTP
import WeftPlatform

/// A regular file being sent.
final class SourceFile: Sendable {
  let path: String
  let size: Int
  fileprivate let file: Descriptor

  /// Blocks as long as the file system does.
  init(_ path: String) throws(HTTPFailure.Kind) {
    self.path = path
    do throws(SystemError) {
      (file, size) = try Descriptor.opened(regularFile: path)
    } catch {
      throw error == .invalid
        ? .file(path: path, why: "not a regular file") : .systemError(error, at: path)
    }
  }
}

/// An opened body, ready to be sent.
struct OpenedBody: Sendable {
  enum Piece: Sendable {
    case bytes([UInt8])
    case file(SourceFile)
  }

  let pieces: [Piece]

  /// Blocks if the body contains files.
  init(_ body: EncodedBody) throws(HTTPFailure.Kind) {
    var pieces: [Piece] = []
    for segment in body.segments {
      switch segment {
      case .bytes(let bytes): pieces.append(.bytes(bytes))
      case .file(let path): pieces.append(.file(try SourceFile(path)))
      }
    }
    self.pieces = pieces
  }

  var size: Int {
    pieces.reduce(0) { sum, piece in
      switch piece {
      case .bytes(let bytes): sum + bytes.count
      case .file(let file): sum + file.size
      }
    }
  }
}

/// Reads the pieces of a body in order. For one thread at a time.
struct BodyCursor: Sendable {
  private let pieces: [OpenedBody.Piece]
  private var index = 0
  /// The offset within the piece at `index`.
  private var offset = 0

  init(_ body: OpenedBody) { pieces = body.pieces }

  /// Returns the next bytes, at most `room`; empty at the end. A file that has shrunk is a failure because its length
  /// was already sent; bytes appended to it meanwhile are not sent.
  mutating func next(atMost room: Int) throws(HTTPFailure.Kind) -> ArraySlice<UInt8> {
    while index < pieces.count {
      let found: ArraySlice<UInt8>
      switch pieces[index] {
      case .bytes(let bytes): found = bytes[offset...].prefix(room)
      case .file(let file): found = try Self.read(file, from: offset, atMost: room)
      }
      if !found.isEmpty {
        offset += found.count
        return found
      }
      index += 1
      offset = 0
    }
    return []
  }

  private static func read(
    _ file: SourceFile, from offset: Int, atMost room: Int
  ) throws(HTTPFailure.Kind) -> ArraySlice<UInt8> {
    let wanted = min(room, file.size - offset)
    guard wanted > 0 else { return [] }
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try file.file.piece(at: offset, atMost: wanted)
    } catch {
      throw .systemError(error, at: file.path)
    }
    if bytes.isEmpty { throw .file(path: file.path, why: "became shorter while it was sent") }
    return bytes[...]
  }
}
