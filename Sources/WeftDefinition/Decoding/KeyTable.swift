/// The keys that one kind of object may have.
///
/// A key is looked up by its bytes as they stand in the file, sixteen at most in two words, so that
/// an object costs neither a `String` nor a hash for each of its keys.
protocol ObjectKey: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
  static var table: KeyTable<Self> { get }
}

struct KeyTable<Key: ObjectKey>: Sendable {
  private let packed: [PackedKey]
  private let keys: [Key]

  init() {
    keys = Array(Key.allCases)
    packed = keys.map { PackedKey($0.rawValue.utf8) }
    precondition(packed.allSatisfy(\.isWhole), "a key is too long to be looked up")
  }

  subscript(key: PackedKey) -> Key? {
    packed.firstIndex(of: key).map { keys[$0] }
  }
}

/// The first sixteen bytes of a key, and how many there are.
struct PackedKey: Sendable, Hashable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0
  private let count: Int

  init(_ bytes: some Collection<UInt8>) {
    count = bytes.count
    for (index, byte) in bytes.prefix(16).enumerated() {
      if index < 8 {
        low |= UInt64(byte) << UInt64(index * 8)
      } else {
        high |= UInt64(byte) << UInt64((index - 8) * 8)
      }
    }
  }

  var isWhole: Bool { count <= 16 }

  /// Whether the key begins with `x-`: nobody reads it.
  var isIgnored: Bool {
    low & 0xFFFF == UInt64(UInt8(ascii: "x")) | UInt64(UInt8(ascii: "-")) << 8
  }
}
