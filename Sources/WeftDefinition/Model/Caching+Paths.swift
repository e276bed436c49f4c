package import WeftExpressions

/// Where the files of a step are that may stand in for running it.
extension Command.Caching {
  /// The names of a path, as the system takes them.
  package static func names(_ path: String) -> [String] {
    path.split(separator: "/").map(String.init).filter { $0 != "." }
  }

  /// The names of a path from the directory on in which a directory is; `nil` if it leads out of that.
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

  /// The names that a pattern begins with and that stand for themselves, from the directory on in which a directory is.
  private static func literalNames(_ pattern: String, in directory: [String]) -> [String]? {
    let parts = pattern.split(separator: "/").map(String.init)
    let literal = parts.prefix { part in !part.contains { "*?[\\".contains($0) } }
    return names(literal.joined(separator: "/"), in: directory)
  }

  /// The output in which all that a pattern of inputs means is; `nil` if there is none. A pattern that means files elsewhere
  /// too, such as `**`, means no outputs.
  package func output(around input: String, in directory: [String]) -> String? {
    guard !input.hasPrefix("!"), let names = Self.literalNames(input, in: directory) else {
      return nil
    }
    return outputs.first { output in
      guard let place = Self.names(output, in: directory), !place.isEmpty else { return false }
      return names.starts(with: place)
    }
  }

  /// A pattern that is relative to a directory, as one of what that is in. It may lead up at its beginning.
  ///
  /// - Parameter directory: `nil`: where that is, is not known yet.
  package static func pattern(
    _ text: String, in directory: [String]?
  ) throws(PathPatternFault) -> String {
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
  ) -> CachingProblem? {
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
