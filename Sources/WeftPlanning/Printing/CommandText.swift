import WeftDefinition

/// The action of a step, on one line for the user.
enum CommandText {
  /// Writes a script's first line, or the words of a command line, quoted as a shell would need it; for other steps, a
  /// description of the action.
  ///
  /// - Returns: The columns it fills, at most `columns`.
  @discardableResult
  static func write(_ step: PlannedStep, atMost columns: Int, to text: inout PrintedText) -> Int {
    // A command, as most steps run, is not boxed.
    let line =
      step.command?.summary([], atMost: columns, ellipsis: text.ellipsis)
      ?? step.action.model.summary(step.outputs, atMost: columns, ellipsis: text.ellipsis)
    return text.append(line, atMost: columns)
  }
}

/// The command of a step and its remarks, side by side on one line.
struct RemarkedCommand {
  private static let narrowest = 16

  let style: PlanStyle
  let ellipsis: String

  /// Fills at most `columns` columns; if the line is too long, the command is shortened first.
  func write(
    _ step: PlannedStep, _ remarks: [String], atMost columns: Int, to text: inout PrintedText
  ) {
    let left = max(columns, RemarkedCommand.narrowest)
    let command = command(step, atMost: left)
    let ending = self.remarks(remarks, atMost: max(left - command.width, style.width / 2))
    if command.width + ending.width > columns {
      let shorter = max(columns - ending.width, RemarkedCommand.narrowest)
      text.append(self.command(step, atMost: min(shorter, left)).text.bytes)
    } else {
      text.append(command.text.bytes)
    }
    text.append(ending.text.bytes)
  }

  private func command(
    _ step: PlannedStep, atMost columns: Int
  ) -> (text: PrintedText, width: Int) {
    var text = PrintedText()
    text.ellipsis = ellipsis
    let width = CommandText.write(step, atMost: columns, to: &text)
    return (text, width)
  }

  func remarks(_ remarks: [String], atMost columns: Int) -> (text: PrintedText, width: Int) {
    var text = PrintedText()
    guard !remarks.isEmpty else { return (text, 0) }
    text.ellipsis = ellipsis
    text.append("  # ")
    let width = text.append(remarks.joined(separator: "; "), atMost: columns - 4)
    return (text, width + 4)
  }
}
