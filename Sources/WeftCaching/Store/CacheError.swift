package import WeftPlatform

/// The reason why a result cannot be stored or restored.
package enum CacheError: Error, Sendable, Hashable {
  /// A declared output path does not exist.
  case noOutput(String)
  /// The result is larger than the whole cache may be.
  case tooLarge(bytes: Int, limit: Int)
  /// The stored content is damaged or was evicted.
  case lost(String)
  /// A file in the outputs that the step did not make has changed.
  case changed(String)
  /// A file that the step is not known to have made occupies the path of an output.
  case inTheWay(String)
  case workspace(WorkspaceError)
  case place(UnsafePlaceError)
  /// The operation was stopped.
  case stopped

  /// The error as a sentence without a full stop.
  package var message: String {
    switch self {
    case .noOutput(let path): "it has not made \"\(path)\""
    case .tooLarge(let bytes, let limit):
      "what it has made has \(bytes) bytes, and the cache may hold \(limit)"
    case .lost(let hash): "the content \(hash.prefix(12)) is not in the cache any more"
    case .changed(let path): "\"\(path)\" is not as it was"
    case .inTheWay(let path):
      "\"\(path)\", which it is not known to have made, is in the place of what it made"
    case .workspace(let fault): fault.message
    case .place(let fault): fault.message
    case .stopped: "it was stopped"
    }
  }
}
