import WeftDefinition
import WeftJSON

/// Masks all parts of an event that may not come from the workflow itself. Output is masked before it becomes
/// an event, since a secret may continue in the next one.
extension RunEvent.Kind {
  func masked(by mask: SecretMask) -> RunEvent.Kind {
    switch self {
    case .runStarted(let start): .runStarted(start.masked(by: mask))
    case .stepRetrying(let step, let retry): .stepRetrying(step, retry.masked(by: mask))
    case .groupRetrying(let group, let retry): .groupRetrying(group, retry.masked(by: mask))
    case .stepRestored(let step, let end): .stepRestored(step, end.masked(by: mask))
    case .stepCached(let step, let end): .stepCached(step, end.masked(by: mask))
    case .stepFinished(let step, let end): .stepFinished(step, end.masked(by: mask))
    case .groupFinished(let group, let end): .groupFinished(group, end.masked(by: mask))
    case .runWarning(let warning): .runWarning(warning.masked(by: mask))
    case .runFinished(let end): .runFinished(end.masked(by: mask))
    case .stepAsking(let step, let message): .stepAsking(step, message: mask.masked(message))
    case .runWaiting(let pause): .runWaiting(pause.masked(by: mask))
    case .stepQueued, .stepStarted, .stepWaiting, .stepOutput, .stepSkipped, .groupStarted,
      .runCancelling:
      self
    // Built from events that have been masked.
    case .outputDropped, .snapshot: self
    }
  }
}

extension RunStart {
  fileprivate func masked(by mask: SecretMask) -> RunStart {
    var start = self
    start.workflow = workflow.map(mask.masked)
    start.file = file.map(mask.masked)
    return start
  }
}

extension StepEnd {
  fileprivate func masked(by mask: SecretMask) -> StepEnd {
    var end = self
    end.failure = failure?.masked(by: mask)
    end.outputs = outputs.map { $0.masked(by: mask) }
    if var http = end.http {
      http.url = mask.masked(http.url)
      http.savedTo = http.savedTo.map(mask.masked)
      http.staleReason = http.staleReason.map(mask.masked)
      end.http = http
    }
    end.leftovers = leftovers.map { $0.masked(by: mask) }
    end.unkillable = unkillable.map { $0.masked(by: mask) }
    return end
  }
}

extension Retry {
  fileprivate func masked(by mask: SecretMask) -> Retry {
    var retry = self
    retry.failure = failure.masked(by: mask)
    return retry
  }
}

extension GroupEnd {
  fileprivate func masked(by mask: SecretMask) -> GroupEnd {
    var end = self
    end.failure = failure?.masked(by: mask)
    end.outputs = outputs.map { $0.masked(by: mask) }
    return end
  }
}

extension RunEnd {
  fileprivate func masked(by mask: SecretMask) -> RunEnd {
    var end = self
    end.failure = failure?.masked(by: mask)
    end.outputs = outputs.map { $0.masked(by: mask) }
    end.leftovers = leftovers.map { $0.masked(by: mask) }
    end.unkillable = unkillable.map { $0.masked(by: mask) }
    return end
  }
}

extension RunPause {
  fileprivate func masked(by mask: SecretMask) -> RunPause {
    var pause = self
    pause.requests = requests.map {
      ApprovalRequest(step: $0.step, message: mask.masked($0.message))
    }
    pause.leftovers = leftovers.map { $0.masked(by: mask) }
    pause.unkillable = unkillable.map { $0.masked(by: mask) }
    return pause
  }
}

extension StepFailure {
  fileprivate func masked(by mask: SecretMask) -> StepFailure {
    StepFailure(
      classes: classes, message: mask.masked(message), help: help.map(mask.masked))
  }
}

extension LeftoverProcess {
  fileprivate func masked(by mask: SecretMask) -> LeftoverProcess {
    LeftoverProcess(process: process, command: mask.masked(command))
  }
}

extension RunWarning {
  fileprivate func masked(by mask: SecretMask) -> RunWarning {
    RunWarning(kind: kind, message: mask.masked(message), help: help.map(mask.masked))
  }
}

extension HandedOn {
  fileprivate func masked(by mask: SecretMask) -> HandedOn {
    HandedOn(name: name, value: value?.masked(by: mask))
  }
}

extension JSONValue {
  /// The value with all texts in it masked, including names.
  fileprivate func masked(by mask: SecretMask) -> JSONValue {
    switch self {
    case .null, .bool, .number: self
    case .string(let text): .string(mask.masked(text))
    case .array(let elements): .array(elements.map { $0.masked(by: mask) })
    case .object(let object):
      .object(
        JSONObject(object.members.map { (mask.masked($0.key), $0.value.masked(by: mask)) }))
    }
  }
}
