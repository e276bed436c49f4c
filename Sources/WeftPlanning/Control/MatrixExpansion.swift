import WeftDefinition
import WeftDiagnostics
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
  ) throws(LoopProblem) {
    var made: [MatrixAxis] = []
    for axis in axes { made.append(try MatrixAxis(axis)) }
    let includes = try MatrixEntry.all(of: include, .include, over: made)
    let excludes = try MatrixEntry.all(of: exclude, .exclude, over: made)
    let size = try MatrixExpansion.size(of: made, limit: limit)
    (kept, own) = MatrixExpansion.combine(made, size: size, includes, excludes)
    self.axes = made
    self.includes = includes
    if count > limit { throw .tooMany(limit: limit) }
    nameRemaining()
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

  private static func size(of axes: [MatrixAxis], limit: Int) throws(LoopProblem) -> Int {
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
  private mutating func nameRemaining() {
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

/// One axis of a matrix.
struct MatrixAxis: Sendable {
  let name: String
  let values: [JSONValue]
  /// The text of each value in a key.
  let texts: [String]

  init(_ axis: MatrixExpansion.Axis) throws(LoopProblem) {
    guard case .array(let values) = axis.values else {
      let found = ExpressionValue(axis.values).kindName
      throw LoopProblem("the axis \"\(axis.name)\" is \(found), expected an array")
    }
    name = axis.name
    self.values = values
    texts = values.map(MatrixAxis.text)
  }

  static func text(of value: JSONValue) -> String {
    ExpressionValue(value).primitiveText ?? value.description
  }
}

/// An entry of `include` or `exclude`: the combinations it matches, and the members it adds.
struct MatrixEntry: Sendable {
  enum List: String {
    case include, exclude
  }

  /// The axes that it names, and whether each of their values matches.
  private var meant: [(axis: Int, values: [Bool])] = []
  /// The members that name no axis, in order.
  private(set) var added: [(String, JSONValue)] = []
  /// All its members, axes first.
  private(set) var members: [(String, JSONValue)] = []

  static func all(
    of value: JSONValue?, _ list: List, over axes: [MatrixAxis]
  ) throws(LoopProblem) -> [MatrixEntry] {
    guard let value else { return [] }
    guard case .array(let elements) = value else {
      let found = ExpressionValue(value).kindName
      throw LoopProblem("\"\(list.rawValue)\" is \(found), expected an array of objects")
    }
    // A name matches an axis as it does in an expression.
    let places = ExpressionObject(
      axes.enumerated().map { .init(key: $1.name, value: .number(Double($0))) })
    var entries: [MatrixEntry] = []
    for (index, element) in elements.enumerated() {
      entries.append(try MatrixEntry(element, list, index, places, axes))
    }
    return entries
  }

  private init(
    _ value: JSONValue, _ list: List, _ index: Int, _ places: ExpressionObject,
    _ axes: [MatrixAxis]
  ) throws(LoopProblem) {
    let entry = "entry \(index) of \"\(list.rawValue)\""
    guard case .object(let object) = value else {
      let found = ExpressionValue(value).kindName
      throw LoopProblem("\(entry) is \(found), expected an object")
    }
    guard !object.isEmpty else { throw LoopProblem("\(entry) is empty") }
    for member in object {
      guard case .number(let place)? = places[member.key] else {
        if list == .exclude {
          throw LoopProblem(
            "\(entry) has \"\(member.key)\", which is not an axis of the matrix",
            help: NearestName(axes.map(\.name)).nearest(to: member.key).asSuggestion)
        }
        added.append((member.key, member.value))
        continue
      }
      members.append((member.key, member.value))
      let axis = Int(place)
      meant.append((axis, axes[axis].values.map { $0.has(member.value) }))
    }
    members += added
  }

  func matches(_ choices: [Int]) -> Bool {
    meant.allSatisfy { $0.values[choices[$0.axis]] }
  }
}

extension JSONValue {
  /// Whether everything in `part` is also here, at the same position and equal by `==` of expressions, as GitHub
  /// compares. An object may have further members.
  fileprivate func has(_ part: JSONValue) -> Bool {
    ExpressionValue(self).has(part)
  }
}

extension ExpressionValue {
  fileprivate func has(_ part: JSONValue) -> Bool {
    switch part {
    case .object(let members): members.allSatisfy { value(at: .string($0.key)).has($0.value) }
    case .array(let elements):
      elements.enumerated().allSatisfy { value(at: .number(Double($0))).has($1) }
    case .null, .bool, .number, .string: isEqual(to: ExpressionValue(part))
    }
  }
}

extension LoopProblem {
  static func tooMany(limit: Int) -> LoopProblem {
    LoopProblem("the matrix has more than \(limit) combinations")
  }
}
