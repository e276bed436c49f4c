import WeftDefinition
import WeftDiagnostics
package import WeftEvents
import WeftJSON
import WeftPlatform

/// Recorded runs as a text table.
package struct RunTable: Sendable {
  private let text: DisplayText
  private let palette: Palette
  /// The current time, for runs in progress.
  private let now: WallTime

  package init(_ settings: DisplaySettings, now: WallTime) {
    text = DisplayText(passesSGR: false, passesUnicode: settings.usesUnicode)
    palette = Palette(usesColour: settings.usesColour, usesUnicode: settings.usesUnicode)
    self.now = now
  }

  private static let heads = ["RUN", "STARTED (UTC)", "STATE", "DURATION", "STEPS", "WORKFLOW"]

  private struct Cell {
    let text: String
    let columns: Int

    init(_ text: String) {
      self.text = text
      columns = DisplayText.columns(of: text)
    }
  }

  /// Returns the table with a header and line ends; damage is explained on a separate line below its run.
  package func rendered(_ runs: [RunListEntry]) -> String {
    let showsInputs = runs.contains { !$0.inputs.isEmpty }
    let heads = (RunTable.heads + (showsInputs ? ["INPUTS"] : [])).map(Cell.init)
    let rows = runs.map { cells($0) + (showsInputs ? [Cell(inputs($0))] : []) }
    var widths = heads.map(\.columns)
    for row in rows {
      for column in row.indices { widths[column] = max(widths[column], row[column].columns) }
    }
    var result = ""
    appendLine(heads, widths, to: &result)
    for (run, row) in zip(runs, rows) {
      appendLine(row, widths, to: &result)
      if let damage = run.damage { result += "    \(text.name(damage))\n" }
    }
    return result
  }

  private func cells(_ run: RunListEntry) -> [Cell] {
    [
      Cell(run.run.text), Cell(run.startedAt.map(ShownMoment.text) ?? ""), Cell(state(of: run)),
      Cell(duration(run)), Cell(steps(run)), Cell(workflow(run)),
    ]
  }

  /// Returns `env=prod, count=3`, truncated if it is long; secret values are `***`.
  private func inputs(_ run: RunListEntry) -> String {
    let all = run.inputs.map { input -> String in
      "\(input.name)=\(input.value?.shownText ?? "***")"
    }.joined(separator: ", ")
    return text.beginning(of: all, characters: RunTable.inputsLimit)
  }

  private static let inputsLimit = 60

  /// Appends cells, each padded unless only empty ones follow.
  private func appendLine(_ cells: [Cell], _ widths: [Int], to result: inout String) {
    var missing = 0
    for (cell, width) in zip(cells, widths) {
      if !cell.text.isEmpty {
        result += String(repeating: " ", count: missing)
        result += cell.text
        missing = 0
      }
      missing += width - cell.columns + 2
    }
    result += "\n"
  }

  private func state(of run: RunListEntry) -> String {
    run.isToBeCancelled ? palette.painted("cancelling", .doubtful) : shown(run.state)
  }

  private func shown(_ state: RecordedState) -> String {
    switch state {
    case .success: palette.painted(state.rawValue, .good)
    case .failure, .damaged: palette.painted(state.rawValue, .bad)
    case .cancelled, .interrupted, .waiting: palette.painted(state.rawValue, .doubtful)
    case .running: palette.painted(state.rawValue, .strong)
    }
  }

  private func duration(_ run: RunListEntry) -> String {
    if let duration = run.duration { return ShownDuration.precise(duration) }
    guard let since = run.runningSince else { return "" }
    return ShownDuration.coarse(now.since(since))
  }

  private func steps(_ run: RunListEntry) -> String {
    guard run.state != .damaged else { return "" }
    let failed = run.counts.failed > 0 ? ", \(run.counts.failed) failed" : ""
    switch run.state {
    case .running, .interrupted, .waiting: break
    case .success, .failure, .cancelled, .damaged:
      return "\(Count(run.counts.done, "step"))\(failed)"
    }
    // With loop elements, there may be more steps than the plan has.
    let all = run.stepCount.map { $0 > run.counts.done ? " of \($0)" : "" } ?? ""
    return "\(run.counts.done)\(all) done\(failed)"
  }

  private func workflow(_ run: RunListEntry) -> String {
    switch (run.workflow, run.file) {
    case (let name?, let file?): text.name("\(name) (\(file))")
    case (let name?, nil): text.name(name)
    case (nil, let file?): text.name(file)
    case (nil, nil): ""
    }
  }
}

/// Times as text.
package enum ShownMoment {
  /// Returns `2026-11-21 18:40:12`, in UTC.
  package static func text(_ time: WallTime) -> String {
    let text = Timestamp(nanoseconds: time.nanoseconds).description.utf8
    return String(text.prefix(10))! + " " + String(text.dropFirst(11).prefix(8))!
  }
}
