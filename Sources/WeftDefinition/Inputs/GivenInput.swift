import WeftDiagnostics
package import WeftJSON

/// A value given for an input, before it is checked against the declaration.
package struct GivenInput: Sendable {
  package enum Content: Sendable {
    /// Text to be read as the declared type.
    case text(String)
    /// JSON, whatever the declared type.
    case json(String)
    case value(JSONValue)
    /// A value that could not be read; carries a verb and what was found.
    case unread(String)
  }

  package enum Origin: Sendable {
    /// An option, as named in messages: `-i version`.
    case option(String)
    /// A member of a document with all inputs.
    case document(JSONMember)
    /// Code of the embedding program.
    case program
  }

  package var name: String
  package var content: Content
  package var origin: Origin

  package init(_ name: String, _ content: Content, _ origin: Origin) {
    self.name = name
    self.content = content
    self.origin = origin
  }

  /// The members of a document that is an object.
  package static func all(in document: JSONNode) -> [GivenInput] {
    document.members.map { member in
      GivenInput(
        member.key.stringValue ?? "", .value(JSONValue(member.value)), .document(member))
    }
  }

  /// The name of the value in messages.
  var subject: String {
    switch origin {
    case .option(let text): quoted(text)
    case .document, .program: "input \(quoted(name))"
    }
  }

  /// Whether it takes precedence over a document.
  var isDirect: Bool {
    if case .document = origin { false } else { true }
  }

  var namePlace: Diagnostic.Place? {
    guard case .document(let member) = origin else { return nil }
    return member.key.place
  }

  func place(of fault: ValueError) -> Diagnostic.Place? {
    guard case .document(let member) = origin else { return nil }
    return member.value.node(at: fault.path, ofName: fault.isAboutName).place
  }
}
