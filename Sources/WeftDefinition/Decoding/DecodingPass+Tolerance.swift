import WeftDiagnostics
import WeftJSON

/// `allowFailure`, `onFailure` and `leftovers`: choices from a list of words.
extension DecodingPass {
  mutating func tolerance(_ node: JSONNode) -> FailureTolerance {
    if computes(.allowFailure, node) { return .none }
    switch node.kind {
    case .bool: return node.boolValue == true ? .all : .none
    case .array: return .classes(errorClasses(node, Field("allowFailure")))
    default:
      reportType(
        of: node, Field("allowFailure"), wanted: "true, false or an array of error classes",
        help: node.stringValue.flatMap(ErrorClass.init).map { "write [\"\($0)\"]" })
      return .none
    }
  }

  mutating func errorClasses(_ node: JSONNode, _ field: Field) -> [ErrorClass] {
    var classes: [ErrorClass] = []
    for (index, element) in node.elements.enumerated() {
      let field = field.element(index)
      guard let word = text(element, field) else { continue }
      if let known = ErrorClass(word) {
        classes.append(known)
      } else {
        report(
          .unknownWord(
            path: path(field), word: word, wanted: "a class of failure",
            nearest: ErrorClass.nearest(to: word), help: ErrorClass.list), at: element)
      }
    }
    return classes
  }

  mutating func failureResponse(_ node: JSONNode) -> FailureResponse? {
    chosen(node, Field("onFailure"), wanted: "\"stop\", \"cancel\" or \"continue\"")
  }

  mutating func leftoverPolicy(_ node: JSONNode) -> LeftoverPolicy? {
    chosen(node, Field("leftovers"), wanted: "\"end\" or \"keep\"")
  }

  /// One of the words of a type; `wanted` lists them for the message.
  mutating func chosen<Choice: RawRepresentable<String> & CaseIterable>(
    _ node: JSONNode, _ field: Field, wanted: String
  ) -> Choice? {
    guard node.kind == .string else {
      reportType(of: node, field, wanted: wanted)
      return nil
    }
    guard let word = text(node, field) else { return nil }
    if let known = Choice(rawValue: word) { return known }
    let names = NearestName(Choice.allCases.map(\.rawValue))
    report(
      .unknownWord(
        path: path(field), word: word, wanted: wanted, nearest: names.nearest(to: word), help: nil),
      at: node)
    return nil
  }
}

extension ErrorClass {
  fileprivate static let list =
    "the classes are \(plain.map(\.name).joined(separator: ", ")), "
    + "exit:1 to exit:255, signal:KILL, http:404, http:5xx, network:dns and the like"

  fileprivate static func nearest(to word: String) -> String? {
    // An impossible exit code is one edit away from many possible ones.
    guard !word.hasPrefix("exit:"), !word.hasPrefix("http:") else { return nil }
    if word.hasPrefix("network:") {
      return parts.nearest(to: String(word.dropFirst("network:".count))).map { "network:\($0)" }
    }
    let bare = word.hasPrefix("signal:") ? word.dropFirst("signal:".count) : word[...]
    let signal = bare.uppercased()
    let name = signal.hasPrefix("SIG") ? String(signal.dropFirst(3)) : signal
    if SignalName.all.contains(name) { return "signal:\(name)" }
    if let signal = signals.nearest(to: name) { return "signal:\(signal)" }
    return word.hasPrefix("signal:") ? nil : classes.nearest(to: word)
  }

  private static let classes = NearestName(plain.map(\.name))
  private static let parts = NearestName(NetworkPart.allCases.map(\.rawValue))
  private static let signals = NearestName(SignalName.all.sorted())
}
