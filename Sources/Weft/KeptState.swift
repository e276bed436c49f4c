import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftJSON
import WeftRecord

/// The state of a workflow: read when a run has its turn, kept when it has succeeded.
extension Engine {
  /// Returns the values that the run reads, and sets what keeps the next ones.
  ///
  /// A resumed run reads the values with which it began. If another run has replaced those since, it keeps none, so that
  /// an old run does not undo what later ones have kept. A simulated run reads those that it is given, or the defaults,
  /// and keeps nothing.
  func state(
    of prepared: PreparedRun, isSimulated: Bool, _ configuration: inout EngineConfiguration
  ) throws(StartError) -> [InputValues.Entry] {
    let declared = prepared.plan.workflow.state
    guard !declared.isEmpty else { return [] }
    var known = JSONObject(prepared.inputs.state.map { ($0.name.text, $0.value) })
    if !isSimulated {
      let (store, key) = try stateStore(of: prepared)
      let kept = try kept(in: store, key)
      known = kept.values
      var isReplaced = false
      for value in prepared.resumed?.run.opening.state ?? [] {
        let initial = declared.first { $0.name.text == value.name }?.initialValue
        if kept.run != prepared.id, known[value.name] ?? initial != value.value {
          isReplaced = true
        }
        known[value.name] = value.value
      }
      if isReplaced { configuration.earlyWarnings.append(.stateReplaced) }
      configuration.keepState = { [isReplaced] state throws(StepFailure) in
        if isReplaced { return }
        do throws(RunStoreError) {
          try store.keep(state: KeptState(state, of: prepared.id).bytes(of: key), of: key)
        } catch {
          throw StepFailure(
            classes: [.output], message: "the state is not kept: \(error.message)", help: error.help
          )
        }
      }
    }
    do throws(WorkflowError) { return try entries(of: declared, known) } catch {
      throw .workflow(error)
    }
  }

  /// Returns the values that a run would read if it began now.
  func presentState(
    of workflow: Workflow, _ key: WorkflowKey?, in store: any RunStore
  ) throws(WorkflowError) -> [InputValues.Entry] {
    let kept = workflow.state.isEmpty ? nil : key.flatMap { try? self.kept(in: store, $0) }
    return try entries(of: workflow.state, kept?.values ?? [:])
  }

  private func entries(
    of declared: [StateDeclaration], _ known: JSONObject
  ) throws(WorkflowError) -> [InputValues.Entry] {
    var entries: [InputValues.Entry] = []
    var problems: [Diagnostic] = []
    for variable in declared {
      let value = known[variable.name.text] ?? variable.initialValue
      entries.append(InputValues.Entry(variable.name, value))
      if let fault = variable.schema.faults(of: value).first {
        problems.append(
          .unfitState(variable, fault.message(about: "its kept value", isSecret: false)))
      }
    }
    guard problems.isEmpty else { throw WorkflowError(diagnostics: problems) }
    return entries
  }

  private func stateStore(
    of prepared: PreparedRun
  ) throws(StartError) -> (any RunStore, WorkflowKey) {
    let place = prepared.plan.workflow.state.first?.place.value
    guard let store = prepared.store else {
      throw .workflow(
        WorkflowError(diagnostics: [
          .stateNotKept(
            "the run has no store", help: "start it with a store: FileRunStore()", place)
        ]))
    }
    guard let key = WorkflowKey(prepared.plan) else {
      throw .workflow(
        WorkflowError(diagnostics: [
          .stateNotKept(
            "the workflow has neither a file nor a name", help: "give it a \"name\"", place)
        ]))
    }
    return (store, key)
  }

  private func kept(
    in store: any RunStore, _ key: WorkflowKey
  ) throws(StartError) -> KeptState {
    do throws(RunStoreError) {
      guard let bytes = try store.state(of: key) else { return KeptState() }
      if let state = KeptState(bytes) { return state }
      let file = (store as? FileRunStore)?.statePath(of: key)
      throw RunStoreError(
        message: "it is damaged",
        help: file.map { "restore \($0), or remove it to begin with the defaults" })
    } catch {
      throw .state(error)
    }
  }
}

extension Diagnostic {
  fileprivate static func unfitState(_ variable: StateDeclaration, _ fault: String) -> Diagnostic {
    Diagnostic(
      .error, code: "W0431", message: "state \"\(variable.name)\" does not fit: \(fault)",
      place: variable.place.value,
      help: "change its declaration back, or rename it to begin with its default")
  }

  fileprivate static func stateNotKept(
    _ reason: String, help: String, _ place: Diagnostic.Place?
  ) -> Diagnostic {
    Diagnostic(
      .error, code: "W0432", message: "\"state\" cannot be kept: \(reason)", place: place,
      help: help)
  }
}
