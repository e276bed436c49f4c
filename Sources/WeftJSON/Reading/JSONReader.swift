package import WeftDiagnostics

/// Reads JSON texts, strictly as RFC 8259 has them, and remembers where everything stood.
///
/// The module in the order it happens: ``JSONReader`` checks the text from outside (size, encoding)
/// and hands it to the parser, which walks over the bytes once and leaves a tape of 16-byte
/// entries. ``JSONNode`` is a place on that tape. ``JSONValue`` is a value without a text, and
/// ``JSONWriter`` makes texts again.
///
/// Reading does not throw. It says everything that is wrong at once: where it is certain what was
/// meant (a trailing comma, a comment, a missing comma) it tells the problem and reads on.
package enum JSONReader {
  /// Reads a text.
  ///
  /// - Parameters:
  ///   - beside: How grave things are that RFC 8259 allows and a workflow must not have: repeated
  ///     keys, keys that differ only in their normalisation, and `\u0000`. `nil` for data: nothing
  ///     is said, and the last of equal keys counts.
  /// - Returns: The value, or `nil` where reading had to stop, and all diagnostics by place. A
  ///   value that comes with errors may hold nodes of the kind ``JSONKind/unreadable``.
  package static func read(
    _ file: SourceFile, limits: JSONLimits = .workflow, beside: Diagnostic.Severity? = .error
  ) -> (root: JSONNode?, diagnostics: [Diagnostic]) {
    let outside = JSONEnvelope(file.bytes, limits: limits)
    if let fault = outside.fault {
      return (nil, [fault.diagnostic(in: file)])
    }
    let result = JSONParser.parse(file.bytes, from: outside.start, limits: limits)
    var diagnostics = (outside.notes + result.problems).map { $0.diagnostic(in: file) }
    var root: JSONNode?
    if result.isWhole {
      let document = JSONDocument(file: file, tape: result.tape)
      root = document.root
      if let beside {
        diagnostics += JSONFindings(in: document).all.map { $0.diagnostic(beside, in: file) }
      }
    }
    return (root, diagnostics.sortedByPlace())
  }
}

/// How much of a text is read.
package struct JSONLimits: Sendable, Hashable {
  /// At most 4 GiB, since places are 32 bits wide.
  package var bytes: Int
  /// Arrays and objects inside each other.
  package var depth: Int
  /// After so many problems reading stops.
  package var problems: Int

  package init(bytes: Int = 64 << 20, depth: Int = 256, problems: Int = 100_000) {
    self.bytes = bytes
    self.depth = depth
    self.problems = problems
  }

  /// 64 MiB, 256 deep.
  package static let workflow = JSONLimits()
}
