public import WeftDiagnostics

/// What is given for the inputs of a workflow is not what it declares; nothing was started.
package struct InputsRejected: Error, Sendable, Hashable {
  /// Everything that is wrong, not only the first.
  package let faults: [InputFault]
  /// The faults as they are told: those of missing inputs together.
  package let diagnostics: [Diagnostic]

  package init(_ faults: [InputFault], diagnostics: [Diagnostic]) {
    self.faults = faults
    self.diagnostics = diagnostics
  }
}

/// One thing that is wrong with what is given for inputs.
public struct InputFault: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The workflow has no such input.
    case unknown
    /// An input without a default was not given.
    case missing
    /// One input was given more than once in one place.
    case repeated
    /// What is given does not fit the declaration.
    case unfit
    /// A file that holds the value could not be read.
    case unread
  }

  public let kind: Kind
  /// The input: as it was given, or as it is declared where it is missing.
  public let name: String
  /// A sentence that names the input; nothing of a secret is in it.
  public let message: String
  /// What to do about it.
  public let help: String?
  /// In a document of inputs.
  public let place: Diagnostic.Place?

  init(
    _ kind: Kind, _ name: String, _ message: String, help: String? = nil,
    place: Diagnostic.Place? = nil
  ) {
    self.kind = kind
    self.name = name
    self.message = message
    self.help = help
    self.place = place
  }

  /// Stable across releases.
  public var code: String {
    switch kind {
    case .unknown: "W0420"
    case .missing: "W0421"
    case .repeated: "W0422"
    case .unfit: "W0423"
    case .unread: "W0424"
    }
  }

  var diagnostic: Diagnostic {
    Diagnostic(.error, code: code, message: message, place: place, help: help)
  }
}
