package import WeftEvents
import WeftJSON
import WeftPlatform
import WeftRecord

/// Recorded runs as one JSON object, for programs.
///
/// `format` is 1 and changes when a reader of the old format would misunderstand the new one. Unknown values are
/// omitted. Durations are whole microseconds.
package enum RunListJSON {
  package static let format = 1

  /// Returns indented JSON with a line end.
  package static func rendered(_ runs: [RunListEntry]) -> [UInt8] {
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.object {
      $0.member("format", format)
      $0.array("runs") { for run in runs { write(run, to: &$0) } }
    }
    writer.endLine()
    return writer.bytes
  }

  private static func write(_ run: RunListEntry, to writer: inout JSONWriter) {
    writer.object {
      $0.member("run", run.run.text)
      $0.member("state", run.state.rawValue)
      $0.member("startedAt", run.startedAt.map(WireClock.text(of:)))
      $0.member("user", run.user)
      $0.member("workflow", run.workflow)
      $0.member("file", run.file)
      $0.values("inputs", run.inputs)
      $0.member("durationUs", run.duration?.wholeMicroseconds)
      $0.member("steps", run.stepCount)
      if run.state != .damaged {
        let counts = run.counts
        $0.object("counts") {
          $0.member("succeeded", counts.succeeded)
          $0.member("failed", counts.failed)
          $0.member("tolerated", counts.tolerated)
          $0.member("cancelled", counts.cancelled)
          $0.member("skipped", counts.skipped)
        }
      }
      $0.member("damage", run.damage)
    }
  }
}
