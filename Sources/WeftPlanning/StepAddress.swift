import WeftDiagnostics

/// The identity of a step, group or loop element in events, on the command line and in files.
///
/// A step of a plan is addressed by its id, or by its position from 1 below the nearest id: `build`, `3`, `2.1`,
/// `checks.3`. The contents of another file follow the step that runs the file: `site/render`. An element of a loop is
/// addressed by its key in brackets, followed by the address within the element: `upload[a]`, `deploy[eu].push`.
///
/// A key is any text, so `[`, `]` and `\` in it, and white space at its ends, are escaped by a backslash. Names contain
/// none of these. Therefore no two elements have the same address, and ``init(parsing:)`` reverses printing.
///
/// A path of ``Part``s, kept in its printed form: that is unique, and in most plans it takes no allocation, which matters
/// for the memory per step. This file has the only printer and the only parser; all other code sees parts.
public struct StepAddress: Sendable, CustomStringConvertible {
  public let text: String

  /// - Parameter text: The value of ``text``; whether a plan has such a step is not checked.
  public init(_ text: String) {
    self.text = text
  }

  public var description: String { text }

  /// A part of an address, without escapes.
  package enum Part: Sendable, Hashable {
    /// An id or a position: the first part, or after a `.`.
    case name(String)
    /// An id or a position in the file that the step before it runs: after a `/`.
    case inFile(String)
    case element(key: String)
  }

  package init(parts: some Sequence<Part>) {
    var text = ""
    for part in parts {
      switch part {
      case .name(let name): text += text.isEmpty ? name : "." + name
      case .inFile(let name): text += "/" + name
      case .element(let key): text += "[\(StepAddress.escaped(key))]"
      }
    }
    self.text = text
  }

  /// Parses an address as the user typed it: any character of a key may have a backslash before it.
  ///
  /// - Returns: `nil` if the text is not an address.
  public init?(parsing text: String) {
    guard let parts = StepAddress(text).parts else { return nil }
    self.init(parts: parts)
  }

  /// The parts, from the outermost; `nil` if the text is not an address.
  package var parts: [Part]? {
    var reader = AddressReader(text)
    return reader.parts()
  }

  /// Whether it is written as the printer writes it, with keys that elements may have.
  package var isCanonical: Bool {
    hasPlainParts
      || ElementKeys.unfitScalar(in: text) == nil && StepAddress(parsing: text) == self
  }

  /// Whether it is written as the printer writes it, and its keys consist of the same bytes as ids. Nearly all are: so
  /// they need not be parsed.
  private var hasPlainParts: Bool {
    var text = text
    return text.withUTF8 { bytes in
      // A name or key that has begun, and whether it has any byte; after a key, no part has begun.
      var (isKey, isEmpty, isAfterKey) = (false, true, false)
      for byte in bytes {
        switch byte {
        case _ where StepAddress.isPlain(byte):
          if isAfterKey { return false }
          isEmpty = false
        case UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "["):
          if isKey || isEmpty && !isAfterKey { return false }
          (isKey, isEmpty, isAfterKey) = (byte == UInt8(ascii: "["), true, false)
        case UInt8(ascii: "]"):
          if !isKey || isEmpty { return false }
          (isKey, isEmpty, isAfterKey) = (false, true, true)
        default: return false
        }
      }
      return isAfterKey || !isKey && !isEmpty
    }
  }

  /// Whether the byte is a letter, a digit, `_` or `-`, of which ids consist.
  fileprivate static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

/// Addresses are compared as written: `é` as one scalar and as two are two keys.
extension StepAddress: Hashable {
  public static func == (left: StepAddress, right: StepAddress) -> Bool {
    var (left, right) = (left.text, right.text)
    return left.withUTF8 { left in
      right.withUTF8 { right in left.count == right.count && left.elementsEqual(right) }
    }
  }

  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

// MARK: Members and files

extension StepAddress {
  /// The address below this step or group of a member without an id.
  ///
  /// - Parameter position: Counts from 1.
  package func member(_ position: Int) -> StepAddress { StepAddress("\(text).\(position)") }

  /// The address of a cleanup step of this step or group.
  ///
  /// - Parameter position: Counts from 1; `nil` if it is the only one.
  package func cleanup(_ position: Int?) -> StepAddress {
    StepAddress(position.map { "\(text).cleanup.\($0)" } ?? "\(text).cleanup")
  }

  /// The address of a step by its id or position in a file.
  ///
  /// - Parameter caller: The step that runs the file; `nil` for the workflow that is planned.
  package init(_ name: String, inFileOf caller: StepAddress?) {
    text = caller.map { "\($0.text)/\(name)" } ?? name
  }

  /// The address within the file that `caller` runs.
  package func local(inFileOf caller: StepAddress?) -> StepAddress {
    guard let caller else { return self }
    return StepAddress(String(Substring(text.utf8.dropFirst(caller.text.utf8.count + 1))))
  }

  /// Whether it is in the file that a step runs; always so for `nil`, the file of the run.
  package func isInFile(of caller: StepAddress?) -> Bool {
    caller.map { text.utf8.starts(with: "\($0.text)/".utf8) } ?? true
  }
}

// MARK: Elements

extension StepAddress {
  /// The address of an element of this loop: `upload[linux]`.
  package func element(_ key: String) -> StepAddress {
    StepAddress("\(text)[\(StepAddress.escaped(key))]")
  }

  /// A key as written between brackets.
  private static func escaped(_ key: String) -> String {
    guard needsEscaping(key) else { return key }
    let scalars = key.unicodeScalars
    let last = scalars.index(before: scalars.endIndex)
    var result = ""
    for index in scalars.indices {
      let isAtEnd = index == scalars.startIndex || index == last
      if isSpecial(scalars[index]) || (isAtEnd && scalars[index].properties.isWhitespace) {
        result += "\\"
      }
      result.unicodeScalars.append(scalars[index])
    }
    return result
  }

  /// Whether a key is written with escapes.
  package static func needsEscaping(_ key: String) -> Bool {
    if key.utf8.allSatisfy(isPlain) { return false }
    let scalars = key.unicodeScalars
    return scalars.contains(where: isSpecial) || scalars.first?.properties.isWhitespace == true
      || scalars.last?.properties.isWhitespace == true
  }

  private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "[" || scalar == "]" || scalar == "\\"
  }

  /// Whether it is an element or inside one.
  package var hasElement: Bool { text.utf8.contains(UInt8(ascii: "[")) }

  /// The loop of which it is an element; `nil` for any other address.
  package var loop: StepAddress? {
    guard let last = lastElement, last.upperBound == text.utf8.count else { return nil }
    return prefix(last.lowerBound)
  }

  /// The outermost loop around it, or of which it is an element, by its address in the plan.
  package var outermostLoop: StepAddress? {
    text.utf8.firstIndex(of: UInt8(ascii: "[")).map { StepAddress(String(text[..<$0])) }
  }

  /// The innermost element around it, or itself if it is an element.
  package var innermostElement: StepAddress? {
    lastElement.map { $0.upperBound == text.utf8.count ? self : prefix($0.upperBound) }
  }

  private func prefix(_ count: Int) -> StepAddress {
    StepAddress(String(Substring(text.utf8.prefix(count))))
  }

  /// The bytes of the last key, including its brackets.
  private var lastElement: Range<Int>? {
    var text = text
    return text.withUTF8 { bytes in
      var open: Int?
      var last: Range<Int>?
      var isEscaped = false
      for (place, byte) in bytes.enumerated() {
        if !isEscaped, byte == UInt8(ascii: "[") { open = place }
        if !isEscaped, byte == UInt8(ascii: "]"), let open { last = open..<place + 1 }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      }
      return last
    }
  }

  /// Whether it is `other`, or an address inside it.
  package func isInside(_ other: StepAddress) -> Bool {
    guard text.utf8.starts(with: other.text.utf8) else { return false }
    switch text.utf8.dropFirst(other.text.utf8.count).first {
    case nil, UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "/"): return true
    default: return false
    }
  }

  /// Whether it is an element of a loop, or inside one.
  package func isInElement(of loop: StepAddress) -> Bool {
    text.utf8.count > loop.text.utf8.count && text.utf8.starts(with: loop.text.utf8)
      && text.utf8.dropFirst(loop.text.utf8.count).first == UInt8(ascii: "[")
  }
}

// MARK: The plan and the run

extension StepAddress {
  /// The address in a run of the step or group with the address `planned` in the plan, in this element of `loop`, also
  /// given by its address in the plan.
  ///
  /// Ids are kept: `push` in `deploy[eu]` is `deploy[eu].push`. Steps without an id are addressed by their position in
  /// the loop, `deploy[eu].2`, and the contents of another file by their address in that, `deploy[eu]/push`.
  package func inElement(_ planned: StepAddress, of loop: StepAddress) -> StepAddress {
    if planned == loop { return self }
    if planned.text.utf8.starts(with: (loop.text + "/").utf8) {
      return StepAddress(text + planned.text.dropFirst(loop.text.count))
    }
    let place = loop.text + "."
    let known = planned.text.utf8.starts(with: place.utf8) ? place.count : loop.filePrefix.count
    return StepAddress("\(text).\(planned.text.dropFirst(known))")
  }

  /// The address in the plan for this address in a run: the inverse of ``inElement(_:of:)``.
  ///
  /// - Parameter isKnown: Whether the plan has such an address.
  package func planned(isKnown: (StepAddress) -> Bool) -> StepAddress {
    guard hasElement, let last = lastElement else { return self }
    let loop = prefix(last.lowerBound).planned(isKnown: isKnown)
    let rest = Substring(text.utf8.dropFirst(last.upperBound))
    guard rest.utf8.first == UInt8(ascii: ".") else { return StepAddress(loop.text + String(rest)) }
    let byPlace = StepAddress(loop.text + String(rest))
    let byName = StepAddress(String(loop.filePrefix + rest.dropFirst()))
    return !isKnown(byPlace) && isKnown(byName) ? byName : byPlace
  }

  /// The common prefix of all addresses in the same file: `site/`.
  private var filePrefix: Substring {
    guard let end = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return text[...end]
  }
}

/// Parses an address from beginning to end.
private struct AddressReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  mutating func parts() -> [StepAddress.Part]? {
    guard let first = name() else { return nil }
    var parts = [StepAddress.Part.name(first)]
    while let sign = rest.popFirst() {
      switch sign {
      case UInt8(ascii: "."):
        guard let name = name() else { return nil }
        parts.append(.name(name))
      case UInt8(ascii: "/"):
        guard let name = name() else { return nil }
        parts.append(.inFile(name))
      case UInt8(ascii: "["):
        guard let key = key() else { return nil }
        parts.append(.element(key: key))
      default: return nil
      }
    }
    return parts
  }

  private mutating func name() -> String? {
    let name = rest.prefix { StepAddress.isPlain($0) }
    rest = rest.dropFirst(name.count)
    return name.isEmpty ? nil : String(Substring(name))
  }

  /// Reads a key up to its closing bracket; a backslash is followed by any scalar.
  private mutating func key() -> String? {
    var key: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "]"): return key.isEmpty ? nil : String(decoding: key, as: UTF8.self)
      case UInt8(ascii: "["): return nil
      case UInt8(ascii: "\\"):
        guard let next = rest.popFirst() else { return nil }
        key.append(next)
      default: key.append(byte)
      }
    }
    return nil
  }
}

/// The steps and groups of a plan by their addresses, in the plan and in runs of it.
///
/// A class, since it is asked for each step of a run, and a copy would copy the plan.
package final class PlanAddresses: Sendable {
  private let plan: Plan
  private let steps: [StepAddress: Int]
  private let groups: [StepAddress: Int]

  package init(_ plan: Plan) {
    self.plan = plan
    steps = Dictionary(
      plan.steps.enumerated().map { ($1.address, $0) }, uniquingKeysWith: { first, _ in first })
    groups = Dictionary(
      plan.groups.enumerated().compactMap { index, group in group.address.map { ($0, index) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// The step with an address in a run.
  package func step(at address: StepAddress) -> Int? { steps[planned(address)] }

  /// The group with an address in a run.
  package func group(at address: StepAddress) -> Int? { groups[planned(address)] }

  /// The innermost group that contains the step with an address in a run, or the group with that address.
  package func innermostGroup(at address: StepAddress) -> Int? {
    step(at: address).map { plan.steps[$0].group } ?? group(at: address)
  }

  /// The address in the plan of the step or group with this address in a run.
  package func planned(_ address: StepAddress) -> StepAddress {
    address.planned { steps[$0] != nil || groups[$0] != nil }
  }

  /// The addresses that a step or group of the plan may have in the elements around another address: one in each element
  /// of a loop that contains it, from the innermost outwards, and its own in the plan last.
  ///
  /// - Parameter planned: Its address in the plan.
  package func instances(of planned: StepAddress, around address: StepAddress) -> [StepAddress] {
    var found: [StepAddress] = []
    var next = address.innermostElement
    while let element = next, let loop = element.loop {
      let plannedLoop = self.planned(loop)
      if contains(plannedLoop, planned) {
        found.append(element.inElement(planned, of: plannedLoop))
      }
      next = loop.innermostElement
    }
    return found + [planned]
  }

  /// Whether a step or group with an address in a run is `other`, or inside it, wherever ids place their addresses.
  ///
  /// - Parameter other: A step, group, loop or element, by its address in that run.
  package func isInside(_ address: StepAddress, _ other: StepAddress) -> Bool {
    if address.isInside(other) { return true }
    let planned = planned(other)
    guard groups[planned] != nil, contains(planned, self.planned(address)) else { return false }
    return instances(of: planned, around: address).first == other
  }

  /// Whether a group or loop contains a step or group, or is it. Both are given by their addresses in the plan.
  private func contains(_ group: StepAddress, _ planned: StepAddress) -> Bool {
    if planned.isInside(group) { return true }
    guard let outer = groups[group], let inner = innermostGroup(at: planned) else { return false }
    return plan.allEnclosingGroups(ofGroup: inner).contains(outer)
  }
}
