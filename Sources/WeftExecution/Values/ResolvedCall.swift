package import WeftDefinition
import WeftEvents
package import WeftJSON

/// The registered action that a step calls in one attempt, with its parameters.
package struct ResolvedCall: Sendable {
  package let name: ActionName
  package private(set) var parameters = JSONObject()

  /// Takes parameters as written: a text with expressions is kept until its value replaces it.
  init(asWritten call: ActionCall) {
    name = call.name
    for parameter in call.parameters {
      switch parameter.value {
      case .value(let value): supply(parameter.name, value)
      case .text(let text): supply(parameter.name, .string(text))
      }
    }
  }

  mutating func supply(_ name: String, _ value: JSONValue) { parameters[name] = value }
}
