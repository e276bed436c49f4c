import WeftDefinition
import WeftExpressions
import WeftJSON
import WeftPlanning

/// The result in a case instead of one that held a secret, which is not recorded.
enum SecretSubstitute {
  static let text = "not-a-real-secret"

  /// JSON that has the text at each place that the step's own outputs read; `nil` if they read none.
  static func json(for step: PlannedStep) -> JSONValue? {
    var value: JSONValue?
    for output in step.outputs {
      let expressions = Template.parse(output.value ?? "").expressions
      for reference in expressions.flatMap(\.references) where reference.isOfContext("self") {
        let names = reference.names.map(\.text)
        guard names.count > 2, names[1] == "json" else { continue }
        value = adding(names[2...], to: value)
      }
    }
    return value
  }

  private static func adding(_ names: ArraySlice<String>, to value: JSONValue?) -> JSONValue {
    guard let name = names.first else { return value ?? .string(text) }
    var object = JSONObject()
    if case .object(let earlier)? = value { object = earlier }
    object[name] = adding(names.dropFirst(), to: object[name])
    return .object(object)
  }
}
