package import WeftDefinition
import WeftDiagnostics
package import WeftExpressions
package import WeftJSON

/// The elements of a loop, in order: each has a value and a unique key.
///
/// Values are produced one at a time; those of a matrix are built on demand.
package struct LoopElements: Sendable {
  private enum Source: Sendable {
    case array([JSONValue])
    case object([JSONObject.Member])
    case matrix(MatrixExpansion)
  }

  private let source: Source
  /// The keys, if an expression defines them.
  private var ownKeys: [String]?

  /// Creates the elements of an array, with their indices from 0 as keys, or the values of an object, with its keys.
  package init(
    of value: JSONValue, limit: Int = WorkflowLimits.elements
  ) throws(LoopProblem) {
    switch value {
    case .array(let elements): source = .array(elements)
    case .object(let object): source = .object(object.members)
    case .null, .bool, .number, .string:
      let found = ExpressionValue(value).kindName
      throw LoopProblem("\"in\" is \(found), expected an array or an object")
    }
    if count > limit {
      throw LoopProblem("\"in\" has \(count) elements, expected at most \(limit)")
    }
    guard case .object(let members) = source else { return }
    for (index, member) in members.enumerated() {
      guard let fault = ElementKeys.fault(of: member.key) else { continue }
      throw .unfitKey(
        fault, of: index, help: "add \"key\", an expression that names an element")
    }
  }

  package init(_ matrix: MatrixExpansion) { source = .matrix(matrix) }

  package var count: Int {
    switch source {
    case .array(let elements): elements.count
    case .object(let members): members.count
    case .matrix(let matrix): matrix.count
    }
  }

  package func value(at index: Int) -> JSONValue {
    switch source {
    case .array(let elements): elements[index]
    case .object(let members): members[index].value
    case .matrix(let matrix): .object(matrix[index])
    }
  }

  package func key(at index: Int) -> String {
    if let ownKeys { return ownKeys[index] }
    return switch source {
    case .array: String(index)
    case .object(let members): members[index].key
    case .matrix(let matrix): matrix.key(at: index)
    }
  }

  /// Replaces the keys of all elements, in order.
  package mutating func rename(_ keys: ElementKeys) {
    precondition(keys.texts.count == count, "\(count) elements have \(keys.texts.count) keys")
    ownKeys = keys.texts
  }
}

extension LoopElements {
  /// Creates the elements of a loop whose list is written in the file; `nil` if its keys depend on more than the elements.
  ///
  /// - Parameter texts: Those of the loop.
  package init?(literal loop: ForEach, _ texts: ArraySlice<PlannedText>) {
    guard case .values(let written) = loop.elements, let elements = try? LoopElements(of: written)
    else { return nil }
    self = elements
    guard let text = texts.first(where: { $0.site == .elementKey }) else { return }
    guard let expression = text.template.onlyExpression,
      let keys = try? ElementKeys(of: elements, in: loop, by: expression)
    else { return nil }
    rename(keys)
  }
}

extension ElementKeys {
  /// Evaluates the keys of elements; `nil` if the expression reads more than the element, or cannot be evaluated.
  ///
  /// - Throws: If the keys are not valid.
  init?(of elements: LoopElements, in loop: ForEach, by expression: Expression) throws(LoopProblem)
  {
    let isOfElement = expression.references.allSatisfy { reference in
      reference.valueContext == .item || reference.valueContext == .index
        || loop.name.map(InputName.folded) == InputName.folded(reference.context)
    }
    guard isOfElement else { return nil }
    for index in 0..<elements.count {
      let item = ExpressionValue(elements.value(at: index))
      var contexts = [
        ExpressionObject.Member(key: "item", value: item),
        ExpressionObject.Member(key: "index", value: .number(Double(index))),
      ]
      if let name = loop.name { contexts.append(.init(key: name, value: item)) }
      guard let value = try? expression.evaluate(in: ValueScope(ExpressionObject(contexts))) else {
        return nil
      }
      try add(value.value)
    }
  }
}

/// The keys of a loop's elements, in order: each is unique and valid in an address.
package struct ElementKeys: Sendable {
  /// The maximum length of a key, in UTF-8 bytes.
  package static let longestBytes = 200

  private var indices: [ScalarString: Int] = [:]
  package private(set) var texts: [String] = []

  package init() {}

  /// Adds the key of the next element.
  ///
  /// - Parameter value: The value of the key expression: a string or a number.
  package mutating func add(_ value: ExpressionValue) throws(LoopProblem) {
    let index = texts.count
    let text: String
    switch value {
    case .string(let string): text = string
    case .number(let number) where number.isFinite: text = value.primitiveText ?? ""
    case .number, .null, .boolean, .array, .object:
      throw LoopProblem(
        "the key of element \(index) is \(value.keyKind), expected a string or a number")
    }
    if let fault = ElementKeys.fault(of: text) { throw .unfitKey(fault, of: index) }
    if let first = indices.updateValue(index, forKey: ScalarString(text)) {
      throw LoopProblem("elements \(first) and \(index) have the same key, \"\(text)\"")
    }
    texts.append(text)
  }

  /// The reason why a text cannot be a key, as the end of a sentence; `nil` if it can.
  package static func fault(of text: String) -> String? {
    if text.isEmpty { return "is empty" }
    let length = text.utf8.count
    if length > longestBytes { return "has \(length) bytes, expected at most \(longestBytes)" }
    guard let scalar = unfitScalar(in: text) else { return nil }
    let kind = scalar.properties.generalCategory == .format ? "an invisible" : "a control"
    let digits = String(scalar.value, radix: 16, uppercase: true)
    let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
    return "contains \(kind) character, U+\(zeros)\(digits)"
  }

  /// The first scalar that would end a line, control a terminal, reorder the text around it or be invisible: keys are
  /// shown in lines of the display and in approval prompts.
  package static func unfitScalar(in text: String) -> Unicode.Scalar? {
    text.unicodeScalars.first { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: true
      default: !scalar.isASCII && TerminalText.escape(scalar) != nil
      }
    }
  }
}

/// The reason why a loop has no elements, or its elements no valid keys.
package struct LoopProblem: Error, Sendable, Hashable {
  /// The diagnostic code.
  package static let code = "W0335"

  /// Describes the problem in a sentence.
  package let message: String
  package let help: String?

  init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  fileprivate static func unfitKey(
    _ fault: String, of index: Int, help: String? = nil
  ) -> LoopProblem {
    LoopProblem("the key of element \(index) \(fault)", help: help)
  }

  /// The key depends on a secret, but keys are shown.
  package static func secretKey(of index: Int) -> LoopProblem {
    LoopProblem(
      "the key of element \(index) depends on a secret, but keys are shown",
      help: "without \"key\", elements are named by their indices")
  }
}

extension ExpressionValue {
  fileprivate var keyKind: String {
    if case .number = self { "not a finite number" } else { kindName }
  }
}

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
      let axis = Int(place.value)
      meant.append((axis, axes[axis].values.map { $0.has(member.value) }))
    }
    members += added
  }

  func matches(_ choices: [Int]) -> Bool {
    meant.allSatisfy { $0.values[choices[$0.axis]] }
  }
}

extension Matrix {
  /// The problem of entries that are written out, whatever the values of the axes.
  var problemOfEntries: LoopProblem? {
    do throws(LoopProblem) {
      var named: [MatrixAxis] = []
      for axis in axes { named.append(try MatrixAxis((axis.name, .array([])))) }
      _ = try MatrixEntry.all(of: include?.written, .include, over: named)
      _ = try MatrixEntry.all(of: exclude?.written, .exclude, over: named)
      return nil
    } catch { return error }
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
