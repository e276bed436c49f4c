import WeftDiagnostics
import WeftJSON

/// `defaults`: settings for steps that do not have their own.
extension DecodingPass {
  mutating func defaults(_ node: JSONNode) -> StepDefaults {
    guard node.kind == .object else {
      reportType(
        of: node, Field("defaults"), wanted: "an object with \"timeout\", \"retry\" or \"shell\"",
        help: "write { \"timeout\": \"10m\" }")
      return StepDefaults()
    }
    var defaults = StepDefaults()
    let own = collectingTexts { pass in
      for member in node.members {
        guard let key: DefaultsKey = pass.key(of: member, in: .defaults) else { continue }
        switch key {
        case .timeout:
          defaults.timeout = pass.duration(
            member.value, Field("defaults.timeout"), as: .timeout)
        case .retry:
          let retry = pass.retry(member.value, Field("defaults.retry"))
          defaults.retry = retry.isEmpty ? nil : retry
        case .shell: defaults.shell = pass.shell(member.value, Field("defaults.shell"))
        }
      }
    }
    defaults.computed = own.computed
    defaults.texts = Written(own.places)
    return defaults
  }

  mutating func checkShells(of workflow: Workflow, _ root: JSONNode) {
    guard workflow.settings.shell != nil, workflow.defaults.shell != nil else { return }
    var (shell, inner) = (nil as JSONNode?, nil as JSONNode?)
    for member in root.members {
      switch known(member.key) as WorkflowKey? {
      case .shell: shell = member.key
      case .defaults:
        for part in member.value.members where part.key.isString("shell") { inner = part.key }
      default: break
      }
    }
    guard let shell, let inner else { return }
    report(.control(.twoShells), at: inner, related: ("\"shell\" is here", shell))
  }
}
