/// The diagnostics reported so far, for a file that is reached in several ways: the same message at the same location
/// is one problem, whatever names lead to it.
package struct DiagnosticDeduplicator {
  private struct Key: Hashable {
    let code: String
    let path: String
    let range: SourceRange
    let message: String
  }

  private var keys: Set<Key> = []

  package init() {}

  /// - Returns: Whether it has not been reported before; always true without a location.
  package mutating func insert(_ diagnostic: Diagnostic) -> Bool {
    guard let place = diagnostic.place else { return true }
    let key = Key(
      code: diagnostic.code, path: place.file.path, range: place.range, message: diagnostic.message)
    return keys.insert(key).inserted
  }
}
