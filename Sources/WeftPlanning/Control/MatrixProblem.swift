import WeftDiagnostics

/// The reason why a matrix has no combinations to run.
package enum MatrixProblem: Error, Sendable, Hashable {
  package enum List: String, Sendable, Hashable {
    case include, exclude
  }

  case axisIsNoArray(String, found: String)
  case listIsNoArray(List, found: String)
  /// The index is that of the entry.
  case entryIsNoObject(List, Int, found: String)
  case entryIsEmpty(List, Int)
  /// An exclusion by a name that is not an axis, which would exclude nothing.
  case excludesUnknown(String, Int, axes: [String])
  case tooMany(limit: Int)

  package var message: String {
    switch self {
    case .axisIsNoArray(let name, let found): "the axis \"\(name)\" is \(found), expected an array"
    case .listIsNoArray(let list, let found):
      "\"\(list.rawValue)\" is \(found), expected an array of objects"
    case .entryIsNoObject(let list, let index, let found):
      "entry \(index) of \"\(list.rawValue)\" is \(found), expected an object"
    case .entryIsEmpty(let list, let index): "entry \(index) of \"\(list.rawValue)\" is empty"
    case .excludesUnknown(let name, let index, _):
      "entry \(index) of \"exclude\" has \"\(name)\", which is not an axis of the matrix"
    case .tooMany(let limit): "the matrix has more combinations than \(limit)"
    }
  }

  package var help: String? {
    guard case .excludesUnknown(let name, _, let axes) = self else { return nil }
    return NearestName(axes).nearest(to: name).asSuggestion
  }
}
