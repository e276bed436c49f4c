public import WeftDiagnostics

/// An error about given inputs that do not fit their declarations; nothing was started.
package struct InputsError: Error, Sendable, Hashable {
  /// All faults, not only the first.
  package let faults: [InputFault]
  /// The faults as reported: missing inputs are combined.
  package let diagnostics: [Diagnostic]

  package init(_ faults: [InputFault], diagnostics: [Diagnostic]) {
    self.faults = faults
    self.diagnostics = diagnostics
  }
}

/// One fault of the given inputs.
public struct InputFault: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The workflow has no such input.
    case unknown
    /// An input without a default was not given.
    case missing
    /// One input was given more than once by the same source.
    case repeated
    /// The given value does not fit the declaration.
    case unfit
    /// A file with the value could not be read.
    case unread
  }

  public let kind: Kind
  /// The name of the input: as given, or as declared if it is missing.
  public let name: String
  /// A sentence that names the input and contains no part of a secret.
  public let message: String
  /// The suggested remedy.
  public let help: String?
  /// The location in a document of inputs.
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
