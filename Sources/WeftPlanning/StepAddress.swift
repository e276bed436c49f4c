import WeftDiagnostics

/// The identity of a step, group or loop element in events, on the command line and in files.
///
/// A step of a plan is called by its id, or by its position from 1 under the nearest id: `build`, `3`, `2.1`,
/// `checks.3`; what is in another file is behind the step that runs the file: `site/render`. An element of a loop is
/// called by its key in brackets, and what is in the element behind that: `upload[a]`, `deploy[eu].push`.
///
/// A key is any text, so `[`, `]` and `\` in it, and white space at its ends, have a backslash before them. Names have
/// none of these. So no two elements have the same address, and ``init(parsing:)`` undoes what the printer did.
public struct StepAddress: Sendable, CustomStringConvertible {
  public let text: String

  /// - Parameter text: As ``text`` had it; whether a plan has such a step is not asked.
  public init(_ text: String) {
    self.text = text
  }

  public var description: String { text }

  /// A part of an address, as it was before it was printed.
  package enum Part: Sendable, Hashable {
    /// An id, or a position: the first part, or behind a `.`.
    case name(String)
    /// The same, in the file that the step before it runs: behind a `/`.
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

  /// An address as somebody typed it: with a backslash before any sign of a key.
  ///
  /// - Returns: `nil` of a text that is no address.
  public init?(parsing text: String) {
    guard let parts = StepAddress(text).parts else { return nil }
    self.init(parts: parts)
  }

  /// The parts, from the outermost; `nil` of a text that is no address.
  package var parts: [Part]? {
    var reader = AddressReader(text)
    return reader.parts()
  }

  /// Whether it is an address as the printer writes it, with keys that elements may have.
  package var isCanonical: Bool {
    if text.utf8.allSatisfy({ StepAddress.isPlain($0) }), !text.isEmpty { return true }
    return ElementKeys.unfitScalar(in: text) == nil && StepAddress(parsing: text) == self
  }

  /// Letters, digits, `_` and `-`: what ids are made of.
  fileprivate static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

/// Texts are compared as they are written: `é` as one scalar and as two are two keys.
extension StepAddress: Hashable {
  public static func == (left: StepAddress, right: StepAddress) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

// MARK: Elements

extension StepAddress {
  /// The address of one element of this step or group: `upload[linux]`.
  package func element(_ key: String) -> StepAddress {
    StepAddress("\(text)[\(StepAddress.escaped(key))]")
  }

  /// A key as it is written between brackets.
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

  /// Whether a key is not written as it is.
  package static func needsEscaping(_ key: String) -> Bool {
    let scalars = key.unicodeScalars
    return scalars.contains(where: isSpecial) || scalars.first?.properties.isWhitespace == true
      || scalars.last?.properties.isWhitespace == true
  }

  private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "[" || scalar == "]" || scalar == "\\"
  }

  /// Whether it is an element, or in one.
  package var hasElement: Bool { text.utf8.contains(UInt8(ascii: "[")) }

  /// The loop of which it is an element; `nil` of anything else.
  package var loop: StepAddress? {
    guard text.utf8.last == UInt8(ascii: "]"), let last = lastElement else { return nil }
    return StepAddress(String(text[..<last.lowerBound]))
  }

  /// The outermost loop around it, or of which it is an element, as the plan calls that.
  package var outermostLoop: StepAddress? {
    text.utf8.firstIndex(of: UInt8(ascii: "[")).map { StepAddress(String(text[..<$0])) }
  }

  /// The innermost element around it, or itself.
  package var innermostElement: StepAddress? {
    lastElement.map { StepAddress(String(text[..<$0.upperBound])) }
  }

  /// The brackets of the last key.
  private var lastElement: Range<String.Index>? {
    let bytes = text.utf8
    var open: String.Index?
    var last: Range<String.Index>?
    var isEscaped = false
    for index in bytes.indices {
      defer { isEscaped = !isEscaped && bytes[index] == UInt8(ascii: "\\") }
      if isEscaped { continue }
      if bytes[index] == UInt8(ascii: "[") { open = index }
      if bytes[index] == UInt8(ascii: "]"), let start = open {
        last = start..<bytes.index(after: index)
      }
    }
    return last
  }

  /// Whether it is that of a step, group or element, or of something in it by its name.
  package func isInside(_ other: StepAddress) -> Bool {
    guard text.utf8.starts(with: other.text.utf8) else { return false }
    switch text.utf8.dropFirst(other.text.utf8.count).first {
    case nil, UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "/"): return true
    default: return false
    }
  }

  /// Whether it is in an element of a loop, or is one.
  package func isInElement(of loop: StepAddress) -> Bool {
    text.utf8.count > loop.text.utf8.count && text.utf8.starts(with: loop.text.utf8)
      && text.utf8.dropFirst(loop.text.utf8.count).first == UInt8(ascii: "[")
  }
}

// MARK: The plan and the run

extension StepAddress {
  /// The address in a run of what the plan calls `planned`, in this element of what it calls `loop`.
  ///
  /// What has an id keeps it: `push` in `deploy[eu]` is `deploy[eu].push`. What has none is called by its place in the
  /// loop, `deploy[eu].2`, and what is in another file by its place in that, `deploy[eu]/push`.
  package func inElement(_ planned: StepAddress, of loop: StepAddress) -> StepAddress {
    if planned == loop { return self }
    if planned.text.utf8.starts(with: (loop.text + "/").utf8) {
      return StepAddress(text + planned.text.dropFirst(loop.text.count))
    }
    let place = loop.text + "."
    let known = planned.text.utf8.starts(with: place.utf8) ? place.count : loop.filePrefix.count
    return StepAddress("\(text).\(planned.text.dropFirst(known))")
  }

  /// The plan's name of what has this address in a run: undoes ``inElement(_:of:)``.
  ///
  /// - Parameter isKnown: Whether the plan calls something so.
  package func planned(isKnown: (StepAddress) -> Bool) -> StepAddress {
    guard hasElement, let last = lastElement else { return self }
    let loop = StepAddress(String(text[..<last.lowerBound])).planned(isKnown: isKnown)
    let rest = text[last.upperBound...]
    guard rest.utf8.first == UInt8(ascii: ".") else { return StepAddress(loop.text + String(rest)) }
    let byPlace = StepAddress(loop.text + String(rest))
    let byName = StepAddress(String(loop.filePrefix + rest.dropFirst()))
    return !isKnown(byPlace) && isKnown(byName) ? byName : byPlace
  }

  /// The beginning of the addresses of all in the same file: `site/`.
  private var filePrefix: Substring {
    guard let end = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return text[...end]
  }
}

/// Reads an address from its beginning to its end.
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

  /// Up to the bracket that closes it; a backslash is followed by any scalar.
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
