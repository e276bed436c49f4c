/// The members of a JSON object: each key once, in the order in which they were first set.
///
/// Keys are compared by their Unicode scalars. Two objects are equal if they have the same members; the order is kept
/// for writing, but has no meaning (RFC 8259 §4).
public struct JSONObject: Sendable {
  /// A key and its value.
  public struct Member: Sendable, Hashable {
    public let key: String
    public var value: JSONValue

    public init(key: String, value: JSONValue) {
      self.key = key
      self.value = value
    }

    public static func == (left: Member, right: Member) -> Bool {
      left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(ScalarString(key))
      hasher.combine(value)
    }
  }

  /// The number of members up to which a linear search is faster than hashing.
  private static let indexedCount = 12

  public private(set) var members: [Member] = []
  /// The index of each key; empty while there are few members.
  private var places: [ScalarString: Int] = [:]

  public init() {}

  /// Creates an object. If a key is repeated, the last value counts, at the position of the first.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    for (key, value) in members { self[key] = value }
  }

  public var count: Int { members.count }
  public var isEmpty: Bool { members.isEmpty }

  /// Setting `nil` removes the member.
  public subscript(key: String) -> JSONValue? {
    get { place(of: key).map { members[$0].value } }
    set {
      guard let newValue else { return remove(key) }
      if let place = place(of: key) {
        members[place].value = newValue
      } else {
        append(Member(key: key, value: newValue))
      }
    }
  }

  private func place(of key: String) -> Int? {
    guard places.isEmpty else { return places[ScalarString(key)] }
    return members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
  }

  private mutating func append(_ member: Member) {
    members.append(member)
    if !places.isEmpty {
      places[ScalarString(member.key)] = members.count - 1
    } else if members.count > JSONObject.indexedCount {
      reindex()
    }
  }

  private mutating func remove(_ key: String) {
    guard let place = place(of: key) else { return }
    members.remove(at: place)
    places = [:]
    if members.count > JSONObject.indexedCount { reindex() }
  }

  private mutating func reindex() {
    for (place, member) in members.enumerated() { places[ScalarString(member.key)] = place }
  }
}

extension JSONObject: Hashable {
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
  }

  /// Independent of the order of the members.
  public func hash(into hasher: inout Hasher) {
    var sum = 0
    for member in members { sum &+= member.hashValue }
    hasher.combine(sum)
  }
}

extension JSONObject: Sequence {
  public func makeIterator() -> IndexingIterator<[Member]> { members.makeIterator() }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }
}
