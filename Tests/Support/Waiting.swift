/// Waits until a condition holds that other threads or tasks make true.
///
/// It sleeps in between: a task that only yields keeps a processor busy, and all tests run at once.
public func until(_ condition: () -> Bool) async {
  while !condition(), !Task.isCancelled { try? await Task.sleep(for: .microseconds(200)) }
}
