import WeftEvents
import WeftJSON
import WeftPlanning
import WeftRecord

/// The difference between two runs as one JSON object, for programs.
///
/// `format` is 1 and changes when a reader of the old format would misunderstand the new one. Unknown values are
/// omitted. Durations are whole microseconds. In `definition`, values are JSON texts.
package enum RunDifferenceJSON {
  package static let format = 1

  /// Returns indented JSON with a line end.
  package static func rendered(_ difference: RunDifference) -> [UInt8] {
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.object {
      $0.member("format", format)
      $0.member("differs", !difference.isEmpty)
      $0.side("before", difference.before)
      $0.side("after", difference.after)
      $0.definition(difference.definition)
      $0.array("inputs") { for input in difference.inputs { $0.input(input) } }
      if !difference.secretInputs.isEmpty {
        $0.array("secretInputs", of: difference.secretInputs)
      }
      $0.array("outcomes") { for outcome in difference.outcomes { $0.outcome(outcome) } }
      $0.array("durations") { for time in difference.durations { $0.time(time) } }
      $0.array("caches") { for cache in difference.caches { $0.cache(cache) } }
    }
    writer.endLine()
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func side(_ name: StaticString, _ side: RunDifference.Side) {
    object(name) {
      $0.member("run", side.run.text)
      $0.member("state", side.state.rawValue)
      $0.member("startedAt", side.startedAt.map(WireClock.text(of:)))
      $0.member("durationUs", side.microseconds)
      $0.member("damage", side.damage)
    }
  }

  fileprivate mutating func definition(_ difference: DefinitionDifference) {
    object("definition") {
      $0.member("fileChanged", difference.hasOtherBytes)
      $0.member("known", difference.isKnown)
      $0.array("files", of: difference.files)
      $0.array("workflow", of: difference.workflow)
      $0.array("changed") {
        for member in difference.changed {
          $0.object {
            $0.member("step", member.address.text)
            $0.array("keys") {
              for key in member.keys {
                $0.object {
                  $0.member("key", key.path)
                  $0.member("before", key.before)
                  $0.member("after", key.after)
                }
              }
            }
            $0.array("surroundings", of: member.surroundings)
          }
        }
      }
      $0.array("added", of: difference.added.map(\.text))
      $0.array("removed", of: difference.removed.map(\.text))
    }
  }

  fileprivate mutating func input(_ input: RunDifference.Input) {
    object {
      $0.member("name", input.name)
      $0.value("before", of: input.before)
      $0.value("after", of: input.after)
    }
  }

  /// Writes `{"value": …}`, or `{"secret": true}`; nothing if the run does not have the input.
  private mutating func value(_ name: StaticString, of input: ReportedOutput?) {
    guard let input else { return }
    object(name) {
      if let value = input.value {
        $0.key("value")
        $0.value(value)
      } else {
        $0.member("secret", true)
      }
    }
  }

  fileprivate mutating func outcome(_ outcome: RunDifference.Outcome) {
    object {
      $0.member("step", outcome.step.text)
      $0.result("before", outcome.before)
      $0.result("after", outcome.after)
    }
  }

  private mutating func result(_ name: StaticString, _ result: RunDifference.Result?) {
    guard let result else { return }
    object(name) {
      $0.member("state", result.verdict.rawValue)
      $0.member("class", result.failureClass)
      $0.member("reason", result.reason)
      $0.member("attempts", result.attempts > 1 ? result.attempts : nil)
    }
  }

  fileprivate mutating func time(_ time: RunDifference.Time) {
    object {
      $0.member("step", time.step?.text)
      $0.member("beforeUs", time.before)
      $0.member("afterUs", time.after)
      $0.member("usualFromUs", time.usual?.lowerBound)
      $0.member("usualToUs", time.usual?.upperBound)
    }
  }

  fileprivate mutating func cache(_ cache: RunDifference.Cache) {
    object {
      $0.member("step", cache.step.text)
      $0.member("cache", cache.isHTTP ? "http" : "steps")
      $0.member("before", cache.before)
      $0.member("after", cache.after)
      $0.member("reason", cache.reason)
    }
  }
}
