import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftReporting

/// The workflow file of a run, as the run read it. It may contain defaults of secret inputs, which are masked.
extension ReportedRun {
  /// The beginning of the file, and whether there is more.
  func definition(atMost limit: Int) -> (text: String, isCut: Bool) {
    guard let bytes = plan?.workflow.source.value?.bytes else { return ("", false) }
    let text = mask.masked(String(decoding: bytes.prefix(limit), as: UTF8.self))
    return (lines(of: text), bytes.count > limit)
  }

  /// The definition of a step, as its file has it.
  func source(ofStep index: Int, atMost limit: Int) -> String? {
    guard let plan, let range = plan.steps[index].step.place.value?.step,
      let file = plan.files[plan.groups[plan.steps[index].group].file].workflow.source.value
    else { return nil }
    let end = min(Int(range.end), file.bytes.count, Int(range.start) + limit)
    guard Int(range.start) < end else { return nil }
    let part = String(decoding: file.bytes[Int(range.start)..<end], as: UTF8.self)
    return lines(of: mask.masked(part)) + (end < Int(range.end) ? "…" : "")
  }

  /// `build.json:12:5`.
  func location(ofStep index: Int) -> String? {
    plan?.place(ofStep: index).map { place in
      let position = place.file.position(of: Int(place.range.start))
      return "\(shown(place.file.path)):\(position.line):\(position.column)"
    }
  }

  /// The lines of a text, each harmless.
  private func lines(of text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in
        TerminalText.harmless(
          line.split(separator: "\t", omittingEmptySubsequences: false).joined(separator: "    "))
      }
      .joined(separator: "\n")
  }
}
