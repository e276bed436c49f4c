package import WeftDefinition
package import WeftDiagnostics

/// The pools of a plan, from all its files. Pools with the same name are one, with the smallest size and the slowest
/// rate that any file declares.
package struct JoinedPools: Sendable {
  package struct Joined: Sendable {
    package fileprivate(set) var pool: Pool
    /// The location of the effective value; `nil` for a workflow built in Swift.
    package fileprivate(set) var sizePlace: Diagnostic.Place?
    package fileprivate(set) var ratePlace: Diagnostic.Place?
  }

  /// The pools, in the order in which the files first declare them.
  package private(set) var pools: [Joined] = []
  private var places: [String: Int] = [:]

  init(of files: [PlannedFile]) {
    for file in files {
      for pool in file.workflow.pools { join(pool, file.workflow.source.value) }
    }
  }

  subscript(name: String) -> Joined? { places[name].map { pools[$0] } }

  private mutating func join(_ pool: Pool, _ file: SourceFile?) {
    let place = Diagnostic.Place(pool.place.value, in: file)
    guard let index = places[pool.name] else {
      places[pool.name] = pools.count
      pools.append(Joined(pool: pool, sizePlace: place, ratePlace: place))
      return
    }
    if pool.slots < pools[index].pool.slots {
      pools[index].pool.slots = pool.slots
      pools[index].sizePlace = place
    }
    if let rate = pool.rate, pools[index].pool.rate.map(rate.isSlower) ?? true {
      pools[index].pool.rate = rate
      pools[index].ratePlace = place
    }
  }
}

extension Rate {
  /// Whether it allows less in the long run or, if equal, less at once.
  fileprivate func isSlower(than other: Rate) -> Bool {
    let (own, others) = (period * other.count, other.period * count)
    return own == others ? count < other.count : own > others
  }
}

extension Plan {
  /// The pools that steps share, across all files.
  package var pools: [Pool] { JoinedPools(of: files).pools.map(\.pool) }
}
