import WeftDiagnostics
import WeftJSON

/// The top level of a file.
extension DecodingPass {
  /// The workflow; `nil` if too much is missing to check the rest.
  mutating func workflow(_ root: JSONNode) -> Workflow? {
    guard root.kind == .object else {
      if root.kind != .unreadable { report(.notAWorkflow(found: root.noun), at: root) }
      return nil
    }
    var workflow = Workflow(body: StepGroup(.steps, []), source: root.document.file)
    var body = GroupDraft()
    var hasUnknownKey = false
    let own = collectingTexts { pass in
      for member in root.members {
        guard let key: WorkflowKey = pass.key(of: member, in: .workflow) else {
          hasUnknownKey = hasUnknownKey || !pass.isIgnored(member.key)
          continue
        }
        pass.take(key, member, into: &workflow, &body)
      }
    }
    workflow.computed = own.computed
    workflow.texts = Written(own.places)
    checkShells(of: workflow, root)
    guard let order = body.order else {
      if !hasUnknownKey { report(.nothingToRun, at: root) }
      return nil
    }
    workflow.body = StepGroup(order, body.members, maxParallel: workflow.maxParallel)
    return isCutShort ? nil : workflow
  }

  private mutating func take(
    _ key: WorkflowKey, _ member: JSONMember, into workflow: inout Workflow,
    _ body: inout GroupDraft
  ) {
    let value = member.value
    switch key {
    case .schema: break
    case .name: workflow.name = filledText(value, Field("name"), wanted: "a name")
    case .description: workflow.description = text(value, Field("description"))
    case .inputs: workflow.inputs = inputs(value)
    case .env: workflow.settings.environment = environment(value)
    case .cwd: workflow.settings.workingDirectory = workingDirectory(value)
    case .shell: workflow.settings.shell = shell(value)
    case .envPolicy: workflow.settings.environmentPolicy = environmentPolicy(value)
    case .secrets: workflow.secrets = secrets(value)
    case .maxParallel: workflow.maxParallel = maxParallel(value)
    case .timeout: workflow.timeout = duration(value, Field("timeout"), as: .timeout)
    case .onFailure: workflow.onFailure = failureResponse(value) ?? .stop
    case .steps: members(.steps, member, into: &body)
    case .parallel: members(.parallel, member, into: &body)
    case .outputs: workflow.outputs = outputs(value)
    case .pools: workflow.pools = pools(value)
    case .concurrency: workflow.concurrency = concurrency(value)
    case .finally: workflow.finally = finally(value)
    case .defaults: workflow.defaults = defaults(value)
    }
  }

  mutating func name(_ node: JSONNode) -> String? {
    filledText(node, Field("name"), at: .name, wanted: "a name")
  }

  mutating func maxParallel(_ node: JSONNode) -> Int? {
    integer(node, Field("maxParallel"), in: ValueRule.maxParallel, as: .maxParallel)
  }
}
