/// A stretch of the order of steps in the file, as a range of numbers: lower numbers come first.
///
/// The steps of a run share all numbers evenly. A loop divides the stretch of its steps among its elements, and each
/// element divides its own among its steps, and so on inwards: everything in one element comes before everything in
/// the next. Steps share a number if there are more of them than numbers. ``SlotQueue`` uses the numbers as its
/// priority among steps of the same weight.
struct FileOrder: Hashable {
  static let whole = FileOrder(first: 0, count: .max)

  /// The position of the first step in it.
  let first: UInt64
  fileprivate let count: UInt64

  /// Returns the stretch of some of `total` equal pieces, which are numbered from 0.
  func pieces(_ range: Range<Int>, of total: Int) -> FileOrder {
    let size = count / UInt64(max(total, 1))
    return FileOrder(
      first: first + size * UInt64(range.lowerBound), count: size * UInt64(range.count))
  }

  func piece(_ index: Int, of total: Int) -> FileOrder { pieces(index..<index + 1, of: total) }
}

extension Instance {
  /// The stretch of the file order that these steps share in the frame.
  func order(ofSteps steps: Range<Int>) -> FileOrder {
    // An attempt of a group uses the stretch of the group.
    if case .attempt = kind, let parent { return parent.order(ofSteps: steps) }
    let first = region.steps.lowerBound
    return order.pieces(
      steps.lowerBound - first..<steps.upperBound - first, of: region.steps.count)
  }
}
