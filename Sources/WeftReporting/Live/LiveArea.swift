import WeftExecution
import WeftPlanning

/// Lays out one frame of the live area for one size of the terminal.
///
/// Every line is narrower than the terminal by at least one column, so that none wraps; the area is
/// lower than the terminal by two rows, one for the cursor and one for what has scrolled.
struct LiveArea {
  let text: DisplayText
  let palette: Palette
  let label: (StepAddress) -> String
  let size: DisplaySize
  let now: Duration

  /// Wider lines would say no more, and wrap sooner when the terminal is made narrower.
  static let widthLimit = 120

  private var columns: Int { min(size.columns - 1, LiveArea.widthLimit) }
  private var rows: Int { max(1, size.rows - 2) }

  /// Nothing before the run has begun.
  func lines(_ progress: RunProgress) -> [String] {
    guard progress.start != nil else { return [] }
    let steps = shown(progress.running)
    let hidden = progress.running.count - steps.count
    var lines = stepLines(steps)
    if hidden > 0, rows > 1 {
      lines.append(text.cut("  \(palette.ellipsis) and \(hidden) more", columns: columns))
    }
    return lines + [counter(progress)]
  }

  /// Those that have been running longest; all of them if they fit beside the counter.
  private func shown(
    _ running: [StepAddress: RunProgress.RunningStep]
  ) -> [RunProgress.RunningStep] {
    let sorted = running.values.sorted { $0.order < $1.order }
    if sorted.count <= rows - 1 { return sorted }
    return Array(sorted.prefix(max(0, rows - 2)))
  }

  /// `  label   1 m 05 s  last line of output`, the columns of all lines aligned.
  private func stepLines(_ steps: [RunProgress.RunningStep]) -> [String] {
    let labelLimit = max(8, columns / 3)
    let labels = steps.map { text.cut(label($0.address), columns: labelLimit) }
    let ages = steps.map { ShownDuration.coarse(now - $0.since) }
    let widths = labels.map(DisplayText.columns)
    let labelWidth = widths.max() ?? 0
    let ageWidth = ages.map(\.count).max() ?? 0
    return steps.indices.map { index in
      let left =
        "  \(labels[index])" + spaces(labelWidth - widths[index]) + "  "
        + spaces(ageWidth - ages[index].count)
      let used = 4 + labelWidth + ageWidth
      guard used <= columns else { return text.cut(left + ages[index], columns: columns) }
      return left + palette.painted(ages[index], .faint)
        + latest(steps[index].tail.latest, columns: columns - used - 2)
    }
  }

  private func latest(_ line: [UInt8], columns: Int) -> String {
    guard columns > 0, !line.isEmpty else { return "" }
    let plain = DisplayText(passesSGR: false, passesUnicode: text.passesUnicode)
    return "  " + plain.line(line[...], columns: columns)
  }

  private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

  /// `12/40 done · 3 running · 1 failed · 00:12`
  private func counter(_ progress: RunProgress) -> String {
    let counts = progress.counts
    var parts = ["\(counts.done)/\(progress.stepCount) done"]
    if !progress.running.isEmpty {
      parts.append(
        "\(progress.running.count) \(progress.cancelling == nil ? "running" : "stopping")")
    }
    if counts.failed > 0 { parts.append("\(counts.failed) failed") }
    parts.append(ShownDuration.clock(now))
    if case .signal("INT") = progress.cancelling { parts.append("^C again kills now") }
    return text.cut(parts.joined(separator: palette.separator), columns: columns)
  }
}
