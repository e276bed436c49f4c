import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlanning

/// A response of a recorded attempt, as a script. One response stands for all pages and polls of the attempt: only the
/// last one is recorded, and the items of all pages.
struct RecordedExchange {
  private let call: HTTPCall
  private let step: PlannedStep
  private let status: Int
  private let failure: StepFailure?
  private let values: RecordedResponse?
  private let lists: SecretLists

  /// `nil` without a response.
  init?(
    of step: PlannedStep, _ end: StepEnd?, _ failure: StepFailure?, _ values: RecordedValues,
    _ lists: SecretLists
  ) {
    guard case .http(let call) = step.step.action, let status = end?.http?.status else {
      return nil
    }
    (self.call, self.status, self.failure, self.values) = (call, status, failure, values.answer)
    self.step = step
    self.lists = lists
  }

  /// Whether its items do not say what the pages were.
  var hidesPages: Bool { failure == nil && call.paging.map { $0.page(of: []) == nil } ?? false }

  /// `nil` if no response leads to the failure of the attempt.
  var response: JSONObject? {
    if let failure, !failure.classes.contains(.http) || call.expectation.condition != nil {
      return nil
    }
    var response: JSONObject = ["status": .int(status)]
    if failure == nil, let paging = call.paging {
      response["json"] = paging.page(of: collected)
    } else if case .text(let text)? = values?.body {
      if values?.isJSON == true, let json = try? JSONValue(text: text) {
        response["json"] = json
      } else {
        response["body"] = .string(text)
      }
    } else if values?.body == .secret {
      if values?.isJSON == true {
        response["json"] = SecretSubstitute.json(for: step, lists) ?? .string(SecretSubstitute.text)
      } else {
        response["body"] = .string(SecretSubstitute.text)
      }
    }
    if case .value(.object(let headers))? = values?.headers {
      let kept = headers.members.filter { if case .string = $0.value { true } else { false } }
      if !kept.isEmpty {
        response["headers"] = .object(JSONObject(kept.map { ($0.key, $0.value) }))
      }
    }
    return response
  }

  /// The items of all pages.
  private var collected: JSONValue {
    guard case .text(let text)? = values?.collected else { return [] }
    return (try? JSONValue(text: text)) ?? []
  }
}

extension HTTPCall.Paging {
  /// The only page that has these items; `nil` if they are computed from its content.
  fileprivate func page(of items: JSONValue) -> JSONValue? {
    guard let collect else { return items }
    guard case .reference(let place)? = try? Expression.parse(collect.bareText).root.form,
      place.isOfContext("self"), place.names.dropFirst().first?.text == "json"
    else { return nil }
    return place.names.dropFirst(2).reversed().reduce(items) { [$1.text: $0] }
  }
}
