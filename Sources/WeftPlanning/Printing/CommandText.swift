import WeftDefinition

/// The action of a step, on one line for the user.
enum CommandText {
  /// Writes a script's first line, or the words of a command line, quoted as a shell would need it; for other steps, a
  /// description of the action.
  ///
  /// - Returns: The columns it fills, at most `columns`.
  @discardableResult
  static func write(_ step: PlannedStep, atMost columns: Int, to text: inout PrintedText) -> Int {
    switch step.command?.invocation {
    case .script(let script): text.append(firstLine(of: script, text.ellipsis), atMost: columns)
    case .program(let words): text.append(commandLine(words, columns), atMost: columns)
    case nil: text.append(actionText(of: step.step, text.ellipsis), atMost: columns)
    }
  }

  private static func actionText(of step: Step, _ ellipsis: String) -> String {
    switch step.action {
    case .wait(let waiting): "waits " + text(of: waiting)
    case .approve(let approval): "asks: " + firstLine(of: approval.message, ellipsis)
    case .workflow(let nested): "runs the steps of \(nested.path)"
    case .use(let call): "runs the action \(call.name)"
    case .http(let call): "\(call.method) \(call.shownURL)"
    case .run, .group, .compute:
      "computes " + step.outputs.map(\.name).joined(separator: ", ")
    }
  }

  private static func text(of waiting: Waiting) -> String {
    switch waiting {
    case .duration(let duration): DurationText.text(of: duration)
    case .until(let moment): "until \(moment.text)"
    case .computedDuration(let text): ControlRemarks.bare(text)
    case .computedMoment(let text): "until \(ControlRemarks.bare(text))"
    }
  }

  /// The first nonblank line, with an ellipsis if there are others.
  private static func firstLine(of script: String, _ ellipsis: String) -> String {
    guard script.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return script }
    let lines = script.split(whereSeparator: \.isNewline).lazy.filter { line in
      line.contains { !$0.isWhitespace }
    }
    guard var line = lines.first?.drop(while: \.isWhitespace) else { return "" }
    while line.last?.isWhitespace == true { line.removeLast() }
    return lines.dropFirst().isEmpty ? String(line) : line + " " + ellipsis
  }

  /// As many words as can be shown.
  private static func commandLine(_ words: [String], _ columns: Int) -> String {
    var line = ""
    for word in words where line.utf8.count <= 4 * columns {
      if !line.isEmpty { line += " " }
      append(word, to: &line)
    }
    return line
  }

  private static func append(_ word: String, to line: inout String) {
    var word = word
    let (isPlain, hasQuote) = word.withUTF8 { bytes in
      (
        !bytes.isEmpty && bytes.allSatisfy(CommandText.isPlain),
        bytes.contains(UInt8(ascii: "'"))
      )
    }
    if isPlain {
      line += word
    } else if hasQuote {
      let pieces = word.split(separator: "'", omittingEmptySubsequences: false)
      line += "'" + pieces.joined(separator: "'\\''") + "'"
    } else {
      line += "'"
      line += word
      line += "'"
    }
  }

  /// Whether a POSIX shell takes the byte literally anywhere in a command.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
      UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "+"), UInt8(ascii: "="),
      UInt8(ascii: "@"), UInt8(ascii: "%"):
      true
    default: false
    }
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
