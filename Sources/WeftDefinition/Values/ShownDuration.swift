/// Durations for people to read; truncated and never rounded up, so that 59.99 s is not a minute.
package enum ShownDuration {
  /// `85 ms`, `1.2 s`, `1 m 05 s`, `2 h 03 m`, `30 d 02 h`.
  package static func precise(_ duration: Duration) -> String {
    let milliseconds = milliseconds(duration)
    if milliseconds < 1000 { return "\(milliseconds) ms" }
    if milliseconds < 60_000 { return "\(milliseconds / 1000).\(milliseconds / 100 % 10) s" }
    return coarse(duration)
  }

  /// Like ``precise(_:)``, but in whole seconds, for a display that changes once a second.
  package static func coarse(_ duration: Duration) -> String {
    let seconds = milliseconds(duration) / 1000
    let minutes = seconds / 60
    let hours = minutes / 60
    if minutes == 0 { return "\(seconds) s" }
    if hours == 0 { return "\(minutes) m \(twoDigits(seconds % 60)) s" }
    if hours < 24 { return "\(hours) h \(twoDigits(minutes % 60)) m" }
    return "\(hours / 24) d \(twoDigits(hours % 24)) h"
  }

  /// `00:12`, `1:02:03`, `720:00:00`.
  package static func clock(_ duration: Duration) -> String {
    let seconds = milliseconds(duration) / 1000
    let hours = seconds / 3600
    let rest = "\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))"
    return hours == 0 ? rest : "\(hours):\(rest)"
  }

  /// A configured limit: exact, in the largest unit that divides it.
  package static func limit(_ duration: Duration) -> String {
    let milliseconds = milliseconds(duration)
    for (size, unit) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s")]
    where milliseconds >= size && milliseconds % Int64(size) == 0 {
      return "\(milliseconds / Int64(size)) \(unit)"
    }
    return precise(duration)
  }

  /// Treats a negative duration as zero: the clock went backwards.
  private static func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = max(duration, .zero).components
    let limit = Int64.max / 1000 - 1
    return min(seconds, limit) * 1000 + attoseconds / 1_000_000_000_000_000
  }

  private static func twoDigits(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
