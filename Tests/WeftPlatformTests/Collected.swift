import Synchronization

/// What several threads found, in the order in which they did.
final class Collected<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element?]>([])

  var all: [Element?] { elements.withLock { $0 } }
  var count: Int { all.count }

  func add(_ element: Element?) { elements.withLock { $0.append(element) } }
}
