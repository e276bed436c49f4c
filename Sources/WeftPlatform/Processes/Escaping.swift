/// `text` for a message, with control characters escaped, so that a carriage return is visible.
func escaped(_ text: some StringProtocol) -> String {
  var shown = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\r": shown += "\\r"
    case "\n": shown += "\\n"
    case "\t": shown += "\\t"
    case "\"": shown += "\\\""
    case "\\": shown += "\\\\"
    case _
    where scalar.properties.generalCategory == .control
      || scalar.properties.generalCategory == .format:
      shown += "\\u{\(String(scalar.value, radix: 16))}"
    default: shown.unicodeScalars.append(scalar)
    }
  }
  return shown
}

/// "1.2 MB", for people; messages that compare a size with a limit also give it in bytes.
func humanSize(_ bytes: Int) -> String {
  guard bytes >= 1000 else { return "\(bytes) bytes" }
  var (amount, unit) = (Double(bytes) / 1000, "kB")
  if amount >= 1000 { (amount, unit) = (amount / 1000, "MB") }
  let tenths = Int((amount * 10).rounded())
  return "\(tenths / 10).\(tenths % 10) \(unit)"
}
