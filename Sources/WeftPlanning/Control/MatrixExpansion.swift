import WeftDefinition
import WeftExpressions
package import WeftJSON

/// The combinations of a matrix, by the rules of GitHub's `strategy.matrix`.
///
/// The product of the axes comes first, the last axis varying fastest, without the combinations that `exclude` matches.
/// Each entry of `include` is then added to every combination whose original values it would not change; it may change
/// members that an earlier entry added. An entry that cannot be added to any becomes a combination of its own, after
/// all others, and no entry is added to that.
package struct MatrixExpansion: Sendable {
  /// The name of an axis and its values, which the file lists or an expression computes.
  package typealias Axis = (name: String, values: JSONValue)

  private let axes: [MatrixAxis]
  private let includes: [MatrixEntry]
  /// The combinations of the product that are not excluded, by their numbers in it.
  private let kept: [Int32]
  /// The entries of `include` that are combinations of their own.
  private let own: [Int]
  /// The keys of combinations whose values are not a valid key.
  private var otherKeys: [Int: String] = [:]

  /// - Parameters:
  ///   - include: An array of objects, as is `exclude`.
  ///   - limit: The maximum number of combinations, before exclusion.
  package init(
    axes: [Axis], include: JSONValue? = nil, exclude: JSONValue? = nil,
    limit: Int = WorkflowLimits.elements
  ) throws(MatrixProblem) {
    var made: [MatrixAxis] = []
    for axis in axes { made.append(try MatrixAxis(axis)) }
    let includes = try MatrixEntry.all(of: include, .include, over: made)
    let excludes = try MatrixEntry.all(of: exclude, .exclude, over: made)
    let size = try MatrixExpansion.size(of: made, limit: limit)
    (kept, own) = MatrixExpansion.combine(made, size: size, includes, excludes)
    self.axes = made
    self.includes = includes
    if count > limit { throw .tooMany(limit: limit) }
    nameTheOthers()
  }

  package var count: Int { kept.count + own.count }

  /// A combination: its axes in order, then the added members.
  package subscript(index: Int) -> JSONObject {
    guard index < kept.count else { return JSONObject(includes[own[index - kept.count]].members) }
    let choices = choices(at: index)
    var combination = JSONObject(zip(axes, choices).map { ($0.name, $0.values[$1]) })
    for entry in includes where entry.matches(choices) {
      for (name, value) in entry.added { combination[name] = value }
    }
    return combination
  }

  /// The key of a combination: its values as in GitHub's job names, `ubuntu, 3.12`, without added members; arrays and
  /// objects as JSON. Unique within the matrix.
  package func key(at index: Int) -> String { otherKeys[index] ?? text(at: index) }

  // MARK: The product

  /// The index of a combination's value on each axis.
  private func choices(at index: Int) -> [Int] {
    MatrixExpansion.choices(of: Int(kept[index]), axes)
  }

  private static func choices(of number: Int, _ axes: [MatrixAxis]) -> [Int] {
    var choices = Array(repeating: 0, count: axes.count)
    var rest = number
    for axis in axes.indices.reversed() {
      (rest, choices[axis]) = rest.quotientAndRemainder(dividingBy: axes[axis].values.count)
    }
    return choices
  }

  private static func size(of axes: [MatrixAxis], limit: Int) throws(MatrixProblem) -> Int {
    // Without axes the product is empty; it is not one empty combination.
    guard !axes.isEmpty, axes.allSatisfy({ !$0.values.isEmpty }) else { return 0 }
    var size = 1
    for axis in axes {
      let (product, overflows) = size.multipliedReportingOverflow(by: axis.values.count)
      guard !overflows, product <= min(limit, Int(Int32.max)) else { throw .tooMany(limit: limit) }
      size = product
    }
    return size
  }

  private static func combine(
    _ axes: [MatrixAxis], size: Int, _ includes: [MatrixEntry], _ excludes: [MatrixEntry]
  ) -> (kept: [Int32], own: [Int]) {
    var kept: [Int32] = []
    kept.reserveCapacity(size)
    var unmatched = Set(includes.indices)
    for number in 0..<size {
      let choices = choices(of: number, axes)
      if excludes.contains(where: { $0.matches(choices) }) { continue }
      kept.append(Int32(number))
      for index in unmatched where includes[index].matches(choices) { unmatched.remove(index) }
    }
    return (kept, unmatched.sorted())
  }

  // MARK: Keys

  private func text(at index: Int) -> String {
    let segments =
      index < kept.count
      ? zip(axes, choices(at: index)).map { $0.texts[$1] }
      : includes[own[index - kept.count]].members.map { MatrixAxis.text(of: $0.1) }
    return segments.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  /// Appends the index to keys that are already taken, and replaces keys that are not valid in an address by it.
  private mutating func nameTheOthers() {
    var taken: Set<ScalarString> = []
    taken.reserveCapacity(count)
    for index in 0..<count {
      let text = text(at: index)
      var key = text
      if ElementKeys.fault(of: text) != nil { key = "#\(index)" }
      while !taken.insert(ScalarString(key)).inserted {
        let longer = key + " #\(index)"
        key = ElementKeys.fault(of: longer) == nil ? longer : "#\(index)"
      }
      if key != text { otherKeys[index] = key }
    }
  }
}
