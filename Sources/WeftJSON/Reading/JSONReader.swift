package import WeftDiagnostics

/// Reads JSON texts strictly by RFC 8259, and keeps the location of every value.
///
/// In the order of the work: ``JSONReader`` checks size and encoding and calls the parser, which walks over the bytes
/// once and produces a tape of 16-byte entries. ``JSONNode`` is a position on that tape. ``JSONValue`` is a value
/// without a text, and ``JSONWriter`` writes texts.
///
/// Reading does not throw. It reports all problems at once: where the meaning is certain (a trailing comma, a comment,
/// a missing comma), it reports the problem and continues.
package enum JSONReader {
  /// Reads a text.
  ///
  /// - Parameters:
  ///   - beside: The severity of what RFC 8259 allows and a workflow must not contain: repeated keys, keys that differ
  ///     only in normalisation, and `\u0000`. `nil` for data: these are not reported, and the last of equal keys
  ///     counts.
  /// - Returns: The value, or `nil` if reading had to stop, and all diagnostics sorted by location. A value with errors
  ///   may contain nodes of kind ``JSONKind/unreadable``.
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

/// Limits on the texts that are read.
package struct JSONLimits: Sendable, Hashable {
  /// At most 4 GiB, because offsets are 32 bits wide.
  package var bytes: Int
  /// The maximum nesting of arrays and objects.
  package var depth: Int
  /// The number of problems after which reading stops.
  package var problems: Int

  package init(bytes: Int = 64 << 20, depth: Int = 256, problems: Int = 100_000) {
    self.bytes = bytes
    self.depth = depth
    self.problems = problems
  }

  /// 64 MiB, 256 deep.
  package static let workflow = JSONLimits()
}
