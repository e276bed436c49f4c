import WeftDefinition
import WeftDiagnostics
package import WeftEvents
package import WeftExecution
package import WeftPlanning
import WeftPlatform
package import WeftRecord

/// The plan of a recorded run, rebuilt from its files as they were read then.
package struct RecordedPlan {
  /// `nil` if the files were not recorded or are not valid.
  package let plan: Plan?
  /// The plan before the values of the run's inputs are known; `nil` also if the secrets in the file are not known.
  package let definition: Plan?
  /// The default values of secret inputs, which the file contains.
  package let secrets = RunSecrets()

  /// - Parameter opening: The run's last opening record.
  package init(_ run: RunID, _ opening: RecordOpening?, in state: StateDirectory) {
    self.init(
      run, opening, opening.map { state.texts(of: run, $0) }, in: state.folderPath(of: run))
  }

  init(
    _ run: RunID, _ opening: RecordOpening?, _ texts: RecordedTexts?, in directory: String
  ) {
    guard let opening, let texts, let plan = opening.plan(of: texts) else {
      plan = nil
      definition = nil
      return
    }
    let inputs = try? InputBinding.bind(
      plan.workflow.inputs.demanding(opening.inputs), plan.workflow.inputs.given(opening.inputs),
      inputSource: .program, allowsMissing: true)
    guard let inputs else {
      self.plan = plan
      definition = plan.workflow.inputs.contains(where: \.isSecret) ? nil : plan
      return
    }
    definition = plan
    secrets.add(secretsIn: inputs)
    let (bound, problems) = plan.bound(to: inputs, run: run, in: directory)
    self.plan = problems.isEmpty ? bound : plan
  }
}

extension RecordOpening {
  /// Returns the plan of recorded files; `nil` if one that is needed is missing, or not valid any more, or if the numbers
  /// do not fit them.
  ///
  /// - Parameter numbers: The numbers of steps without an id; `nil` for those of this engine.
  func plan(of texts: RecordedTexts, numbered numbers: StepNumbers? = nil) -> Plan? {
    guard let file, let workflow = texts.workflow else { return nil }
    let place = directory ?? (try? FileSystem.currentDirectory()) ?? "/"
    let named = texts.named.map { SourceFile(path: $0.key, bytes: $0.value) }
    let loaded = WorkflowLoader.load(
      SourceFile(path: file, bytes: workflow), at: file == "<stdin>" ? nil : file,
      recordedWith: named, in: place)
    // An engine that was killed while it accepted changes leaves the earlier version of the file.
    let isOwn = self.numbers.isEmpty || RecordedFile.hash(of: workflow) == hash
    let numbers = numbers ?? (isOwn ? self.numbers : StepNumbers())
    return loaded.workflow.flatMap {
      numbers.fit($0) ? Planner.plan(recorded: $0, numbered: numbers) : nil
    }
  }
}
