package import WeftPlatform

/// Why something is not kept, or cannot be had again.
package enum CacheFault: Error, Sendable, Hashable {
  /// A path that the step was to make is not there.
  case noOutput(String)
  /// It is more than the cache may hold altogether.
  case tooLarge(bytes: Int, limit: Int)
  /// What was kept is damaged, or has been taken away to make room.
  case lost(String)
  /// What is at an output, and was not made by the step, is not as it was.
  case changed(String)
  /// Something that the step is not known to have made has the place of what it made.
  case inTheWay(String)
  case workspace(WorkspaceFault)
  case place(UnsafePlace)
  /// Nobody wants it any more.
  case stopped

  /// What was found, as a sentence without a full stop.
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
