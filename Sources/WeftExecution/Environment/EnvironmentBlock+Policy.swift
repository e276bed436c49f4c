import WeftDefinition
import WeftPlatform

extension EnvironmentBlock {
  /// The variables of the engine's own environment that the policy keeps.
  func restricted(by policy: EnvironmentPolicy) -> EnvironmentBlock {
    switch policy {
    case .inherit: self
    case .clean: filtered(EnvironmentPolicy.isKept)
    }
  }

  /// This environment without the variables that are the sources of secrets.
  func hiding(_ secrets: [SecretDeclaration]) -> EnvironmentBlock {
    let names = Set(
      secrets.compactMap { secret -> String? in
        guard case .environment(let name) = secret.source else { return nil }
        return name
      })
    return names.isEmpty ? self : filtered { !names.contains($0) }
  }
}
