import WeftDiagnostics

/// The path of a part of a value: `[3].name`; empty for the value itself.
public struct ValuePath: Sendable, Hashable {
  public enum Component: Sendable, Hashable {
    case property(String)
    case element(Int)
  }

  public var components: [Component]

  public init(_ components: [Component] = []) {
    self.components = components
  }

  func appending(_ component: Component) -> ValuePath { ValuePath(components + [component]) }
}

extension ValuePath: CustomStringConvertible {
  /// `[3].name`, and `["first name"]` if a name is not a plain word.
  public var description: String {
    components.map { component in
      switch component {
      case .element(let index): "[\(index)]"
      case .property(let name): StepID.isValid(name.utf8) ? "." + name : "[\(quoted(name))]"
      }
    }.joined()
  }
}
