package import WeftEvents

/// One operation of a trace, ended: the model of OTLP's `Span`, as far as Weft uses it.
package struct Span: Sendable, Hashable {
  /// The values of OTLP's `SpanKind`.
  package enum Kind: UInt64, Sendable, Hashable {
    case `internal` = 1
    case server
    case client
  }

  package enum Status: Sendable, Hashable {
    case unset
    case error(String)
  }

  package var id: SpanID
  /// `nil` for a span without a parent in its trace.
  package var parent: SpanID?
  /// Whether the parent is a span of another program.
  package var hasRemoteParent = false
  package var name: String
  package var kind = Kind.internal
  /// Since the start of the run.
  package var start: Duration
  package var end: Duration
  package var attributes: [SpanAttribute] = []
  package var status = Status.unset
  package var links: [TraceContext] = []

  package init(_ id: SpanID, _ name: String, below parent: SpanID?, at start: Duration) {
    (self.id, self.name, self.parent) = (id, name, parent)
    (self.start, end) = (start, start)
  }

  package subscript(key: String) -> SpanAttribute.Value? {
    attributes.first { $0.key == key }?.value
  }
}

/// A property of a span or of what sends it.
package struct SpanAttribute: Sendable, Hashable {
  package enum Value: Sendable, Hashable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case texts([String])
  }

  package let key: String
  package let value: Value

  package init(_ key: String, _ value: Value) {
    (self.key, self.value) = (key, value)
  }

  package init(_ key: String, _ text: String) { self.init(key, .text(text)) }
}

extension [SpanAttribute] {
  /// Adds an attribute, unless there is no value.
  mutating func add(_ key: String, _ text: String?) {
    if let text { append(SpanAttribute(key, text)) }
  }

  mutating func add(_ key: String, _ number: Int?) {
    if let number { append(SpanAttribute(key, .number(number))) }
  }

  /// Adds a flag that is set.
  mutating func add(_ key: String, if flag: Bool) {
    if flag { append(SpanAttribute(key, .flag(true))) }
  }
}
