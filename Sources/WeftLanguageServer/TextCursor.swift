import WeftDiagnostics
import WeftJSON

/// The place of an offset in a JSON text.
struct TextCursor {
  enum PathStep: Hashable {
    case key(String)
    case element(Int)
  }

  enum Target {
    case key(JSONMember)
    case value(JSONNode)
    /// Within this object or array, beside its contents.
    case between(JSONNode)
  }

  /// The way from the root to the target: of a key to its object, of a value to itself.
  private(set) var path: [PathStep] = []
  /// The objects and arrays around the target, outermost first.
  private(set) var containers: [JSONNode] = []
  private(set) var target: Target

  init(_ root: JSONNode, at offset: Int) {
    target = .value(root)
    var node = root
    while node.kind == .object || node.kind == .array, node.surrounds(offset) {
      containers.append(node)
      guard let next = descend(into: node, offset) else { return }
      node = next
      target = .value(node)
    }
  }

  /// Moves to the key or value at the offset; `nil` if it is a key, or beside the contents.
  private mutating func descend(into node: JSONNode, _ offset: Int) -> JSONNode? {
    for member in node.members {
      if member.key.reaches(offset) {
        target = .key(member)
        return nil
      }
      if member.value.reaches(offset), member.value.range.start >= member.key.range.end {
        path.append(.key(member.key.stringValue ?? ""))
        return member.value
      }
    }
    for (index, element) in node.elements.enumerated() where element.reaches(offset) {
      path.append(.element(index))
      return element
    }
    target = .between(node)
    return nil
  }

  /// The key whose value is to be written at the offset, which is beside the members of an object.
  func keyAwaitingValue(at offset: Int) -> JSONMember? {
    guard case .between(let node) = target else { return nil }
    return node.members.first { member in
      let end = Int(member.key.range.end)
      guard end <= offset else { return false }
      let rest = node.document.bytes[end..<offset].filter { !JSONNode.isSpace($0) }
      return rest == [UInt8(ascii: ":")]
    }
  }
}

extension JSONNode {
  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }

  /// Whether the offset is within the value, or at one of its ends.
  func reaches(_ offset: Int) -> Bool {
    Int(range.start) <= offset && offset <= Int(range.end) && range.start < range.end
  }

  /// Whether the offset is between the brackets.
  func surrounds(_ offset: Int) -> Bool { Int(range.start) < offset && offset < Int(range.end) }
}
