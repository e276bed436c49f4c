import WeftDiagnostics
package import WeftJSON

/// What somebody gives for an input, before anybody has looked whether it fits.
package struct GivenInput: Sendable {
  package enum Content: Sendable {
    /// To be read by the declared type.
    case text(String)
    /// JSON, whatever the declared type.
    case json(String)
    case value(JSONValue)
    /// Something that could not be read, and why: a verb and what was found.
    case unread(String)
  }

  package enum Origin: Sendable {
    /// An option, as messages call it: `-i version`.
    case option(String)
    /// A member of a document with all inputs.
    case document(JSONMember)
    /// Another program's code.
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

  /// What messages call the value.
  var subject: String {
    switch origin {
    case .option(let text): quoted(text)
    case .document, .program: "input \(quoted(name))"
    }
  }

  /// Whether it wins over what stands in a document.
  var isDirect: Bool {
    if case .document = origin { false } else { true }
  }

  var namePlace: Diagnostic.Place? {
    guard case .document(let member) = origin else { return nil }
    return member.key.place
  }

  func place(of fault: ValueFault) -> Diagnostic.Place? {
    guard case .document(let member) = origin else { return nil }
    return member.value.node(at: fault.path, ofName: fault.isAboutName).place
  }
}
