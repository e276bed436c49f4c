#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The seeds of the simulated runs: the first 200, unless the environment says otherwise.
///
/// `WEFT_SEEDS=1500` takes the first 1,500, and `WEFT_SEED=7` or `WEFT_SEED=7,12` exactly these.
enum Seeds {
  /// The number of seeds by default; with fewer, nothing is expected of their sum.
  static let few = 200
  /// The number of seeds from which on every pair of features has to meet in some run.
  static let many = 1_500
  /// The number of seeds from which on every pair has to meet in a hundred runs.
  static let full = 100_000

  static let chosen: [UInt64] = {
    if let named = text("WEFT_SEED") {
      return named.split(separator: ",").compactMap { UInt64($0) }
    }
    return Array(0..<(text("WEFT_SEEDS").flatMap { Int($0) } ?? few)).map { UInt64($0) }
  }()

  static var count: Int { chosen.count }

  /// Whether one seed was chosen, whose run is printed.
  static var isOne: Bool { count == 1 }

  /// Evaluates `body` for each chosen seed, several at the same time.
  ///
  /// - Parameter limit: The number of seeds of which the property is enough to see; the rest is left out.
  /// - Returns: The results other than `nil`, in the order of the seeds.
  static func map<Value: Sendable>(
    atMost limit: Int = .max, _ body: @escaping @Sendable (UInt64) -> Value?
  ) async -> [Value] {
    await withTaskGroup(of: (chunk: Int, values: [Value]).self) { group in
      let seeds = chosen.prefix(limit)
      for start in stride(from: 0, to: seeds.count, by: 25) {
        group.addTask { (start, seeds[start...].prefix(25).compactMap(body)) }
      }
      var chunks: [(chunk: Int, values: [Value])] = []
      for await chunk in group { chunks.append(chunk) }
      return chunks.sorted { $0.chunk < $1.chunk }.flatMap(\.values)
    }
  }

  private static func text(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
