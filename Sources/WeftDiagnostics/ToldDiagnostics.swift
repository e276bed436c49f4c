/// Which problems have been told, where several ways lead to one file: the same words at the
/// same place are one problem, whatever names lead to it.
package struct ToldDiagnostics {
  private struct Key: Hashable {
    let code: String
    let path: String
    let range: SourceRange
    let message: String
  }

  private var keys: Set<Key> = []

  package init() {}

  /// - Returns: Whether it has not been told; always, of one without a place.
  package mutating func insert(_ diagnostic: Diagnostic) -> Bool {
    guard let place = diagnostic.place else { return true }
    let key = Key(
      code: diagnostic.code, path: place.file.path, range: place.range, message: diagnostic.message)
    return keys.insert(key).inserted
  }
}
