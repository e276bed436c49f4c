extension PrivateFolder {
  /// Random bytes that are shared by all processes that use the folder, and secret otherwise. If several find none, all
  /// use those that were created first.
  package func secret(_ name: String, count: Int) throws(UnsafePlaceError) -> [UInt8] {
    for _ in 1...3 {
      if let bytes = read(name, limit: 1024) {
        if bytes.count == count { return bytes }
        // It is damaged, and everything derived from it is lost.
        remove(name)
      }
      try create(name, with: PrivateFolder.randomBytes(count))
    }
    throw .kind(name, found: "damaged again and again")
  }

  private static func randomBytes(_ count: Int) throws(UnsafePlaceError) -> [UInt8] {
    do { return try Entropy.bytes(count) } catch { throw .system("random bytes", error) }
  }
}
