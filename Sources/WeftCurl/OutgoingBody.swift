import WeftPlatform

/// The source of a request body: memory directly, files through another thread.
struct OutgoingBody {
  private enum Source {
    case memory(BodyCursor)
    case files(BodySupply)
  }

  private var source: Source

  /// - Parameter tell: Called when bytes arrive after there were none.
  init(_ body: OpenedBody, threads: ThreadPool, report: @escaping @Sendable () -> Void) {
    let hasFiles = body.pieces.contains { if case .file = $0 { true } else { false } }
    source =
      hasFiles
      ? .files(BodySupply(body, threads: threads, report: report)) : .memory(BodyCursor(body))
  }

  mutating func take(atMost room: Int) -> SupplyState.Delivery {
    switch source {
    case .files(let supply): return supply.take(atMost: room)
    case .memory(var cursor):
      defer { source = .memory(cursor) }
      do { return .bytes(try cursor.next(atMost: room)) } catch { return .failed(error) }
    }
  }
}
