/// The keys that one kind of object may have.
///
/// A key is looked up by its raw bytes, at most sixteen in two words, so that reading an object
/// needs neither a `String` nor a hash for each key.
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

/// The first sixteen bytes of a key, and its length.
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

  /// Whether the key begins with `x-` and is ignored.
  var isIgnored: Bool {
    low & 0xFFFF == UInt64(UInt8(ascii: "x")) | UInt64(UInt8(ascii: "-")) << 8
  }
}
