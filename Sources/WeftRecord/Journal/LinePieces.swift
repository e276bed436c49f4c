import WeftPlatform

/// Splits pieces of a file into lines. A line within one piece is passed without copying; only lines across pieces
/// are assembled. Of a line that is too long, only the length is kept.
struct LinePieces {
  static let pieceBytes = 1 << 20

  /// Receives a line without its newline, `nil` if it is too long, and its length; returns whether to continue.
  typealias Body = (UnsafeRawBufferPointer?, Int) -> Bool

  private let limit: Int
  /// The beginning of an incomplete line.
  private var rest: [UInt8] = []
  /// Its length; `rest` is empty if the line is too long.
  private var restCount = 0

  init(limit: Int) {
    self.limit = limit
  }

  mutating func take(_ piece: [UInt8], _ body: Body) {
    piece.withUnsafeBytes { bytes in
      var start = 0
      if restCount > 0 {
        let end = bytes.offset(of: UInt8(ascii: "\n"))
        keep(bytes[..<(end ?? bytes.count)])
        guard let end, emit(body) else { return }
        start = end + 1
      }
      while let end = bytes.offset(of: UInt8(ascii: "\n"), from: start) {
        let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        guard body(line.count > limit ? nil : line, line.count) else { return }
        start = end + 1
      }
      keep(bytes[start...])
    }
  }

  private mutating func keep(_ part: Slice<UnsafeRawBufferPointer>) {
    restCount += part.count
    if restCount <= limit { rest.append(contentsOf: part) } else { rest = [] }
  }

  private mutating func emit(_ body: Body) -> Bool {
    defer {
      rest.removeAll(keepingCapacity: true)
      restCount = 0
    }
    if restCount > limit { return body(nil, restCount) }
    return rest.withUnsafeBytes { body($0, restCount) }
  }
}
