package import WeftDefinition
import WeftEvents

/// The action of a step in one attempt, its expressions evaluated.
///
/// A new kind of action is a new case, for which ``StepExecutors`` must have an executor: no case stands in for
/// others.
package enum ResolvedAction: Sendable {
  case command(Command)
  case call(ResolvedCall)
  case request(ResolvedRequest)
  /// Waits, asks, computes, or is a group: it is never attempted.
  case nothing

  init(asWritten action: StepAction) {
    switch action {
    case .run(let command): self = .command(command)
    case .use(let call): self = .call(ResolvedCall(asWritten: call))
    case .http(let call): self = .request(ResolvedRequest(asWritten: call))
    case .group, .compute, .wait, .approve, .workflow: self = .nothing
    }
  }

  /// The command; setting it has no effect on other kinds of action.
  var command: Command? {
    get { if case .command(let command) = self { command } else { nil } }
    set { if case .command = self, let newValue { self = .command(newValue) } }
  }

  /// The call; setting it has no effect on other kinds of action.
  var call: ResolvedCall? {
    get { if case .call(let call) = self { call } else { nil } }
    set { if case .call = self, let newValue { self = .call(newValue) } }
  }

  /// The request; setting it has no effect on other kinds of action.
  var request: ResolvedRequest? {
    get { if case .request(let request) = self { request } else { nil } }
    set { if case .request = self, let newValue { self = .request(newValue) } }
  }
}
