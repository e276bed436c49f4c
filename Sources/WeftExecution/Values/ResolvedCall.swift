package import WeftDefinition
package import WeftJSON

/// The action that a step runs this time, and what that is given.
package struct ResolvedCall: Sendable {
  package let name: ActionName
  package private(set) var parameters = JSONObject()

  /// As it is written: a text with expressions in it is one until its value is put in its place.
  init(asWritten call: ActionCall) {
    name = call.name
    for parameter in call.parameters {
      switch parameter.value {
      case .value(let value): give(parameter.name, value)
      case .text(let text): give(parameter.name, .string(text))
      }
    }
  }

  mutating func give(_ name: String, _ value: JSONValue) { parameters[name] = value }
}
