import WeftDiagnostics
import WeftJSON

/// `stop`: the signal and the grace period with which a command is terminated.
extension DecodingPass {
  mutating func stopRequest(_ node: JSONNode) -> StopRequest? {
    let field = Field("stop")
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: "an object with \"signal\", \"grace\" or both",
        help: node.stringValue.map { "write { \"signal\": \(quoted($0)) }" }
          ?? "write { \"grace\": \"10s\" }")
      return nil
    }
    var (signal, grace) = (nil as String?, nil as Duration?)
    var isEmpty = true
    for member in node.members {
      guard let key: StopKey = key(of: member, in: .stop) else {
        isEmpty = isEmpty && isIgnored(member.key)
        continue
      }
      isEmpty = false
      switch key {
      case .signal: signal = stopSignal(member.value, field.member(member.key))
      case .grace:
        grace = duration(member.value, field.member(member.key), allowsZero: true, as: .grace)
      }
    }
    if isEmpty {
      report(.empty(path: path(field), wanted: "\"signal\", \"grace\" or both"), at: node)
    }
    return isEmpty ? nil : StopRequest(signal: signal, grace: grace)
  }

  private mutating func stopSignal(_ node: JSONNode, _ field: Field) -> String? {
    guard node.kind == .string else {
      reportType(of: node, field, wanted: "the name of a signal", help: SignalName.spelling)
      return nil
    }
    guard let word = text(node, field) else { return nil }
    if SignalName.ofStopping.contains(word) { return word }
    report(
      .unknownWord(
        path: path(field), word: word, wanted: "a signal by which a program can be asked to end",
        nearest: SignalName.nearestOfStopping(to: word), help: SignalName.cure(for: word)), at: node
    )
    return nil
  }
}

extension SignalName {
  /// The canonical spelling of the name: upper case, without `SIG`.
  private static func canonical(_ word: String) -> String {
    let name = word.uppercased()
    return name.hasPrefix("SIG") ? String(name.dropFirst(3)) : name
  }

  fileprivate static func nearestOfStopping(to word: String) -> String? {
    let name = canonical(word)
    if ofStopping.contains(name) { return name }
    return uncatchable.contains(name) || !isWord(name) ? nil : names.nearest(to: name)
  }

  fileprivate static func cure(for word: String) -> String {
    switch canonical(word) {
    case "KILL", "9": "no program can catch KILL; to send it at once write { \"grace\": \"0s\" }"
    case "STOP", "CONT", "TSTP", "TTIN", "TTOU":
      "that one stops a program or lets it go on, and does not end it; leave it out for TERM"
    default: spelling
    }
  }

  fileprivate static let spelling =
    "signals are named as by \"kill -l\": \"TERM\", \"INT\", \"HUP\", \"QUIT\", \"USR1\" and so on"

  private static func isWord(_ name: String) -> Bool { Int(name) == nil }

  private static let uncatchable: Set<String> = ["KILL", "STOP", "CONT", "TSTP", "TTIN", "TTOU"]
  private static let names = NearestName(ofStopping)
}
