/// `text` for a message: control characters are written out, so that a carriage return can be seen.
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

/// "1.2 MB", for people; sizes that a limit is compared with are told in bytes as well.
func humanSize(_ bytes: Int) -> String {
  guard bytes >= 1000 else { return "\(bytes) bytes" }
  var (amount, unit) = (Double(bytes) / 1000, "kB")
  if amount >= 1000 { (amount, unit) = (amount / 1000, "MB") }
  let tenths = Int((amount * 10).rounded())
  return "\(tenths / 10).\(tenths % 10) \(unit)"
}
