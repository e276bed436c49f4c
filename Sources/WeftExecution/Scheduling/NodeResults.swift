/// The results of all dependencies of a node, in the order of the plan. Most nodes have a single one.
enum NodeResults: Sendable {
  case one(NodeResult)
  case many([NodeResult])

  init(_ results: [NodeResult]) { self = .many(results) }

  /// The results as an array.
  var list: [NodeResult] {
    switch self {
    case .one(let result): [result]
    case .many(let results): results
    }
  }
}

extension NodeResults: RandomAccessCollection {
  var startIndex: Int { 0 }

  var endIndex: Int {
    switch self {
    case .one: 1
    case .many(let results): results.count
    }
  }

  subscript(position: Int) -> NodeResult {
    switch self {
    case .one(let result): result
    case .many(let results): results[position]
    }
  }
}

extension NodeResults: ExpressibleByArrayLiteral {
  init(arrayLiteral results: NodeResult...) { self = .many(results) }
}
