import WeftDiagnostics
package import WeftExpressions

/// Paths of the files of a cached step.
extension Command.Caching {
  /// The components of a path, without `.`.
  package static func names(_ path: String) -> [String] {
    path.split(separator: "/").map(String.init).filter { $0 != "." }
  }

  /// The components of a path in `directory`, from the base on that `directory` is relative to; `nil` if it leaves that
  /// base.
  package static func names(_ path: String, in directory: [String]) -> [String]? {
    var names = directory
    for name in Self.names(path) {
      if name != ".." {
        names.append(name)
      } else if names.popLast() == nil {
        return nil
      }
    }
    return names
  }

  /// The literal components at the start of a pattern in `directory`, from the base of `directory` on.
  private static func literalNames(_ pattern: String, in directory: [String]) -> [String]? {
    let parts = pattern.split(separator: "/").map(String.init)
    let literal = parts.prefix { part in !part.contains { "*?[\\".contains($0) } }
    return names(literal.joined(separator: "/"), in: directory)
  }

  /// The output that contains all matches of an input pattern; `nil` if there is none. A pattern that also matches
  /// files elsewhere, such as `**`, does not match outputs.
  package func output(around input: String, in directory: [String]) -> String? {
    guard !input.hasPrefix("!"), let names = Self.literalNames(input, in: directory) else {
      return nil
    }
    return outputs.first { output in
      guard let place = Self.names(output, in: directory), !place.isEmpty else { return false }
      return names.starts(with: place)
    }
  }

  /// A pattern in `directory`, made relative to the base of `directory`. It may begin with `../`.
  ///
  /// - Parameter directory: `nil` if it is not known yet.
  package static func pattern(
    _ text: String, in directory: [String]?
  ) throws(PathPatternError) -> String {
    var rest = Substring(text)
    let isExclusion = rest.hasPrefix("!")
    if isExclusion { rest = rest.dropFirst() }
    if rest.hasPrefix("/") { throw .absolute(text) }
    var names = directory ?? []
    while rest.hasPrefix("../") || rest.hasPrefix("./") || rest == ".." {
      if rest.hasPrefix(".."), names.popLast() == nil, directory != nil { throw .leadsUp(text) }
      rest = rest.drop { $0 != "/" }.drop { $0 == "/" }
    }
    let pieces = names.map(FileSelection.literally) + (rest.isEmpty ? [] : [String(rest)])
    let pattern = pieces.joined(separator: "/")
    _ = try FileSelection(each: [pattern])
    return (isExclusion ? "!" : "") + pattern
  }
}

extension Command.Caching {
  static func problem(
    of output: String, besides known: [(text: String, names: [String])], path: String
  ) -> Diagnostic? {
    if output.hasPrefix("/") { return .absoluteOutput(path: path, text: output) }
    if output.contains(where: { "*?[".contains($0) }) {
      return .outputIsPattern(path: path, text: output)
    }
    let names = names(output)
    if names.allSatisfy({ $0 == ".." }) { return .outputIsAll(path: path) }
    for other in known {
      if names.starts(with: other.names) {
        return .outputsInside(path: path, text: output, of: other.text)
      }
      if other.names.starts(with: names) {
        return .outputsInside(path: path, text: other.text, of: output)
      }
    }
    return nil
  }
}
