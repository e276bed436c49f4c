package import WeftDefinition
import WeftJSON

extension RunSecrets {
  /// Masks the secret inputs from now on, even if they are visible elsewhere: every program can see the
  /// arguments of `weft` itself.
  package func add(secretsIn inputs: InputValues) {
    for entry in inputs.entries where entry.isSecret { add(everythingIn: entry.value) }
  }

  /// Recurses at most as deep as JSON is read.
  private func add(everythingIn value: JSONValue) {
    switch value {
    case .null, .bool: break
    case .number(let number): _ = add(Array(number.text.utf8))
    case .string(let text): _ = add(Array(text.utf8))
    case .array(let elements): for element in elements { add(everythingIn: element) }
    case .object(let object): for member in object { add(everythingIn: member.value) }
    }
  }
}
