public import WeftEvents
import WeftPlatform
import WeftRecord

/// The forms in which one recorded run, or the difference between two, is printed.
public enum RunDetailFormat: String, Sendable, Hashable, CaseIterable {
  /// For people.
  case text
  /// One object, for programs; its members have the same names as in events.
  case json
}

/// The forms in which a list of runs is printed.
public enum RunListFormat: String, Sendable, Hashable, CaseIterable {
  /// For people, in columns.
  case table
  /// One array, for programs.
  case json
  /// A row for each run, with a header (RFC 4180).
  case csv
}

extension DisplaySettings {
  /// Text that is neither coloured nor redrawn.
  package static let plainText = DisplaySettings(mode: .plain)
}

extension [RunListEntry] {
  /// Returns the list as `weft runs --format` prints it, in UTF-8.
  public func rendered(as format: RunListFormat) -> [UInt8] { rendered(as: format, .plainText) }

  package func rendered(as format: RunListFormat, _ settings: DisplaySettings) -> [UInt8] {
    switch format {
    case .json: RunListJSON.rendered(self)
    case .csv: [UInt8](RunListCSV.rendered(self).utf8)
    case .table:
      [UInt8](
        RunTable(settings, now: WallTime(nanoseconds: WallClock.now.nanoseconds))
          .rendered(self).utf8)
    }
  }
}
