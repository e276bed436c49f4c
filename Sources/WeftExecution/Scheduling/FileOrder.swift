/// A stretch of the order in which steps stand in the file, as numbers: what is lower goes first.
///
/// The steps of a run share all numbers evenly. A loop divides the stretch of its steps among its elements,
/// and each element its own among its steps, and so on inwards: what is in one element comes before
/// everything in the next. What would need more numbers than there are shares one.
struct FileOrder: Hashable {
  static let whole = FileOrder(first: 0, count: .max)

  /// The place of what stands first in it.
  let first: UInt64
  fileprivate let count: UInt64

  /// Some of equal pieces, which are numbered from 0.
  func pieces(_ range: Range<Int>, of total: Int) -> FileOrder {
    let size = count / UInt64(max(total, 1))
    return FileOrder(
      first: first + size * UInt64(range.lowerBound), count: size * UInt64(range.count))
  }

  func piece(_ index: Int, of total: Int) -> FileOrder { pieces(index..<index + 1, of: total) }
}

extension Frame {
  /// Where steps stand in the order of the file, each as often as it is run.
  func order(ofSteps steps: Range<Int>) -> FileOrder {
    // An attempt of a group has the place of the group.
    if case .attempt = kind, let parent { return parent.order(ofSteps: steps) }
    let first = part.steps.lowerBound
    return order.pieces(
      steps.lowerBound - first..<steps.upperBound - first, of: part.steps.count)
  }
}
