/// Turns frames into the bytes that change a terminal from one to the next.
///
/// The cursor rests at the start of the row below the area and is never hidden, so that the prompt finds a clean row
/// however the program ends. Only relative movement (CUU), EL and ED are used. Lines must be narrower than the
/// terminal.
///
/// A terminal that is made narrower may or may not wrap the old area into more rows, which cannot be detected. Rows
/// are counted as if it did not: at worst, stale rows remain, whereas the opposite assumption would erase scrolled
/// lines.
struct FramePainter: Sendable {
  private var drawn: [String] = []
  private var size: DisplaySize?

  /// Returns the bytes for the next frame; empty if nothing changes.
  ///
  /// - Parameter above: Lines that scroll away above the area, once.
  mutating func paint(above: [String], area: [String], size: DisplaySize) -> [UInt8] {
    defer {
      drawn = area
      self.size = size
    }
    guard above.isEmpty, area.count == drawn.count, size == self.size || drawn.isEmpty else {
      return repaint(above, area)
    }
    return update(to: area)
  }

  /// Removes the area, leaving `above` in its place; the next frame draws it again.
  mutating func withdraw(above: [String]) -> [UInt8] {
    defer { drawn = [] }
    return repaint(above, [])
  }

  private func repaint(_ above: [String], _ area: [String]) -> [UInt8] {
    var bytes = cursorUp(drawn.count)
    if !drawn.isEmpty { bytes += "\u{1B}[J".utf8 }
    for line in above + area {
      bytes += line.utf8
      bytes += "\r\n".utf8
    }
    return bytes
  }

  /// Rewrites the lines that differ.
  private func update(to area: [String]) -> [UInt8] {
    guard let first = area.indices.first(where: { area[$0] != drawn[$0] }) else { return [] }
    var bytes = cursorUp(area.count - first)
    for index in first..<area.count {
      if area[index] != drawn[index] {
        bytes += area[index].utf8
        bytes += "\u{1B}[K".utf8
      }
      bytes += "\r\n".utf8
    }
    return bytes
  }

  private func cursorUp(_ rows: Int) -> [UInt8] {
    rows == 0 ? [] : Array("\r\u{1B}[\(rows)A".utf8)
  }
}
