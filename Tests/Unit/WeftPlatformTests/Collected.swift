import Synchronization

/// The findings of several threads, in order.
final class Collected<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element?]>([])

  var all: [Element?] { elements.withLock { $0 } }
  var count: Int { all.count }

  func add(_ element: Element?) { elements.withLock { $0.append(element) } }
}
