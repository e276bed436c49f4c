public import WeftDiagnostics

/// What is given for the inputs of a workflow is not what it declares; nothing was started.
public struct InputsRejected: Error, Sendable, Hashable, CustomStringConvertible {
  /// Everything that is wrong, not only the first.
  public let faults: [InputFault]
  /// The faults as they are told: those of missing inputs together.
  public let diagnostics: [Diagnostic]

  package init(_ faults: [InputFault], diagnostics: [Diagnostic]) {
    self.faults = faults
    self.diagnostics = diagnostics
  }

  /// The diagnostics as the command line shows them.
  public var description: String {
    DiagnosticText().rendered(DiagnosticCollection(diagnostics))
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
    }
  }

  var diagnostic: Diagnostic {
    Diagnostic(.error, code: code, message: message, place: place, help: help)
  }
}
