package import WeftEncoding

/// Moments as written in a workflow, in the format of RFC 3339.
package enum MomentText {
  package typealias ParseError = TimeText.ParseError

  /// Reads a moment; digits beyond nanoseconds are dropped.
  package static func moment(from text: String) throws(ParseError) -> WallMoment {
    let (seconds, fraction) = try TimeText.time(from: text)
    let (whole, isLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (nanoseconds, isLarger) = whole.addingReportingOverflow(fraction)
    guard !isLarge, !isLarger else { throw .outOfRange }
    return WallMoment(nanoseconds: nanoseconds, text: text)
  }
}
