import WeftDefinition
import WeftEvents
import WeftJSON
import WeftPlanning
package import WeftReporting

/// The difference between two runs as text: a section for each kind, and nothing about what is the same.
package struct RunDifferenceText: Sendable {
  private let text: DisplayText
  private let palette: Palette

  package init(_ settings: DisplaySettings) {
    text = DisplayText(passesSGR: false, passesUnicode: settings.usesUnicode)
    palette = Palette(usesColour: settings.usesColour, usesUnicode: settings.usesUnicode)
  }

  private static let valueLimit = 200

  private var arrow: String { palette.usesUnicode ? " → " : " -> " }

  /// Returns the text, with a line end after each line.
  package func rendered(_ difference: RunDifference) -> String {
    var lines = [line("before", difference.before), line("after ", difference.after)]
    for side in [difference.before, difference.after] {
      guard let damage = side.damage else { continue }
      lines.append("damaged: \(text.name(damage)); what follows in that record is not compared")
    }
    let sections = [
      ("definition", definition(difference.definition)),
      ("inputs", difference.inputs.map(input)),
      ("outcomes", difference.outcomes.map(outcome)),
      ("durations", difference.durations.map(time)),
      ("caches", difference.caches.map(cache)),
    ]
    for (title, content) in sections where !content.isEmpty {
      lines += ["", palette.painted(title, .strong)] + content.map { "  \($0)" }
    }
    if difference.isEmpty { lines += ["", "no difference"] }
    if !difference.secretInputs.isEmpty {
      let names = difference.secretInputs.map(text.name).joined(separator: ", ")
      lines += ["", "not compared, because secret values are not recorded: \(names)"]
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private func line(_ name: String, _ side: RunDifference.Side) -> String {
    let start = side.startedAt.map { ", began \(ShownMoment.text($0)) UTC" } ?? ""
    return "\(name) \(side.run): \(side.state.rawValue), \(shown(side.microseconds))\(start)"
  }

  private func shown(_ microseconds: Int) -> String {
    ShownDuration.precise(.microseconds(microseconds))
  }

  // MARK: The definition

  private func definition(_ difference: DefinitionDifference) -> [String] {
    var lines = difference.files.map { "file \"\(text.name($0))\" has changed" }
    if !difference.isKnown {
      return lines + ["not compared: a workflow was not recorded, or cannot be read any more"]
    }
    if difference.isOfLayoutOnly {
      lines.append("the file has changed, but no step, group or key of it")
    }
    if !difference.workflow.isEmpty {
      lines.append(
        "changed the workflow: \(difference.workflow.map(text.name).joined(separator: ", "))")
    }
    for member in difference.changed {
      lines.append("changed \"\(text.name(member.address.text))\"")
      lines += member.keys.map { key in
        "  \(text.name(key.path)): \(value(key.before))\(arrow)\(value(key.after))"
      }
      lines += member.surroundings.map { "  \($0), set around it" }
    }
    lines += difference.added.map { "added \"\(text.name($0.text))\"" }
    lines += difference.removed.map { "removed \"\(text.name($0.text))\"" }
    return lines
  }

  private func value(_ json: String?) -> String {
    json.map { text.beginning(of: $0, characters: RunDifferenceText.valueLimit) } ?? "none"
  }

  // MARK: Inputs and steps

  private func input(_ input: RunDifference.Input) -> String {
    let shown = { (side: ReportedOutput?) in
      guard let side else { return "none" }
      return side.value.map { value($0.description) } ?? "*** (secret)"
    }
    return "\(text.name(input.name)): \(shown(input.before))\(arrow)\(shown(input.after))"
  }

  private func outcome(_ outcome: RunDifference.Outcome) -> String {
    let name = text.name(outcome.step.text)
    let before = "\(name): \(shown(outcome.before))\(arrow)"
    guard let after = outcome.after, let reason = outcome.after?.reason.map(text.name) else {
      return before + shown(outcome.after)
    }
    // Reasons of skipped and cancelled steps begin with these words.
    return before
      + (reason.hasPrefix(after.verdict.rawValue) ? reason : "\(shown(after)): \(reason)")
  }

  private func shown(_ result: RunDifference.Result?) -> String {
    guard let result else { return "not recorded" }
    let details = [
      result.failureClass.map(text.name),
      result.attempts > 1 ? "attempt \(result.attempts)" : nil,
    ].compactMap(\.self)
    return result.verdict.rawValue
      + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))")
  }

  private func time(_ time: RunDifference.Time) -> String {
    let name = time.step.map { text.name($0.text) } ?? "the run"
    let usual = time.usual.map {
      ", otherwise \(shown($0.lowerBound)) to \(shown($0.upperBound))"
    }
    let change = time.after > time.before ? "longer" : "shorter"
    return "\(name): \(shown(time.before))\(arrow)\(shown(time.after)), "
      + "\(shown(abs(time.after - time.before))) \(change)\(usual ?? "")"
  }

  private func cache(_ cache: RunDifference.Cache) -> String {
    let kind = cache.isHTTP ? "HTTP cache " : ""
    let reason = cache.reason.map { ": \(text.name($0))" } ?? ""
    return "\(text.name(cache.step.text)): \(kind)\(cache.before)\(arrow)\(cache.after)\(reason)"
  }
}
