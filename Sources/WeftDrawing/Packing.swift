/// Unconnected parts of a level, packed into rows in their order.
struct Packing {
  struct Item {
    var part: Int
    var isSingle: Bool
    var drawing: Level.Drawing
  }

  struct Packed {
    var size = Size(width: 0, height: 0)
    var items: [(Item, Point)] = []
  }

  /// A row of at most this width is never broken.
  private static let rowWidth = 760

  var items: [Item] = []

  /// Rows about as wide as a screen is in relation to its height; parts that are single boxes form a grid.
  func packed() -> Packed {
    let width = max(Packing.rowWidth, widthOfScreen())
    return items.allSatisfy(\.isSingle) ? grid(width) : rows(width)
  }

  private func widthOfScreen() -> Int {
    let area = items.reduce(0) { sum, item in
      let size = item.drawing.size
      return sum + (size.width + Spacing.parts) * (size.height + Spacing.parts)
    }
    // Newton's method for the square root of integers, from above.
    let square = area * 9 / 5
    var root = square + 1
    while root > square / max(root, 1) { root = (root + square / root) / 2 }
    return root
  }

  private func rows(_ width: Int) -> Packed {
    var packed = Packed()
    var (x, y, height) = (0, 0, 0)
    for item in items {
      let size = item.drawing.size
      if x > 0, x + size.width > width {
        y += height + Spacing.parts
        (x, height) = (0, 0)
      }
      packed.items.append((item, Point(x: x, y: y)))
      packed.size.width = max(packed.size.width, x + size.width)
      x += size.width + Spacing.parts
      height = max(height, size.height)
    }
    packed.size.height = items.isEmpty ? 0 : y + height
    return packed
  }

  private func grid(_ width: Int) -> Packed {
    guard !items.isEmpty else { return Packed() }
    var columns = items.count
    while columns > 1, total(of: widths(columns)) > width { columns -= 1 }
    // Rows of equal length look better than a short last one.
    let rows = (items.count + columns - 1) / columns
    columns = (items.count + rows - 1) / rows
    let widths = widths(columns)
    var packed = Packed()
    var y = 0
    for start in stride(from: 0, to: items.count, by: columns) {
      let row = items[start..<min(start + columns, items.count)]
      let height = row.map(\.drawing.size.height).max() ?? 0
      var x = 0
      for (column, item) in row.enumerated() {
        let size = item.drawing.size
        packed.items.append(
          (item, Point(x: x + (widths[column] - size.width) / 2, y: y + (height - size.height) / 2))
        )
        x += widths[column] + Spacing.boxes
      }
      y += height + Spacing.boxes
    }
    packed.size = Size(width: total(of: widths), height: y - Spacing.boxes)
    return packed
  }

  /// The widths of the columns of a grid.
  private func widths(_ columns: Int) -> [Int] {
    var widths = Array(repeating: 0, count: columns)
    for (index, item) in items.enumerated() {
      widths[index % columns] = max(widths[index % columns], item.drawing.size.width)
    }
    return widths
  }

  private func total(of widths: [Int]) -> Int {
    widths.reduce(0, +) + (widths.count - 1) * Spacing.boxes
  }
}
