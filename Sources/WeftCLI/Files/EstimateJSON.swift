import Weft
import WeftJSON

/// A prediction as one JSON object, for programs.
///
/// `format` is 1 and changes when a reader of the old format would misunderstand the new one. Unknown values are
/// omitted. Durations are whole microseconds.
enum EstimateJSON {
  static let format = 1

  /// Returns indented JSON with a line end.
  static func rendered(_ estimate: Estimate) -> [UInt8] {
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.object {
      $0.member("format", format)
      $0.array("predictions") { for one in estimate.predictions { $0.prediction(one) } }
      $0.array("criticalPath") { for link in estimate.criticalPath { $0.link(link) } }
      $0.duration("finalDelayUs", estimate.finalDelay)
      $0.array("limits") { for limit in estimate.limits { $0.limit(limit) } }
      $0.array("speedUps") {
        for speedUp in estimate.speedUps {
          $0.object {
            $0.member("step", speedUp.step.text)
            $0.duration("durationUs", speedUp.duration)
          }
        }
      }
      $0.basis(estimate.basis)
    }
    writer.endLine()
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func duration(_ name: StaticString, _ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    member(name, Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
  }

  fileprivate mutating func prediction(_ prediction: Estimate.Prediction) {
    object {
      $0.member("maxParallel", prediction.maxParallel)
      $0.duration("durationUs", prediction.duration)
      if let range = prediction.range {
        $0.duration("fromUs", range.lowerBound)
        $0.duration("toUs", range.upperBound)
      }
      $0.member("outcome", prediction.outcome.rawValue)
      guard let earlier = prediction.earlier else { return }
      $0.object("earlier") {
        $0.member("run", earlier.run.text)
        $0.duration("durationUs", earlier.duration)
        $0.duration("unforeseeableUs", earlier.unforeseeable)
        $0.member("otherInputs", earlier.hasOtherInputs)
        $0.member("otherFile", earlier.hasOtherFile)
      }
    }
  }

  fileprivate mutating func link(_ link: Estimate.Link) {
    object {
      $0.member("step", link.step.text)
      $0.duration("durationUs", link.duration)
      $0.duration("delayUs", link.delay)
      switch link.start {
      case .immediate: $0.member("start", "immediate")
      case .dependency: $0.member("start", "dependency")
      case .slot: $0.member("start", "slot")
      case .pool(let pool):
        $0.member("start", "pool")
        $0.member("pool", pool)
      case .limit: $0.member("start", "maxParallel")
      }
    }
  }

  fileprivate mutating func limit(_ limit: Estimate.Limit) {
    object {
      switch limit.kind {
      case .slots(let count):
        $0.member("limit", "slots")
        $0.member("slots", count)
      case .pool(let pool):
        $0.member("limit", "pool")
        $0.member("pool", pool)
      case .maxParallel(let address):
        $0.member("limit", "maxParallel")
        $0.member("of", address.text)
      case .all: $0.member("limit", "all")
      }
      $0.duration("withoutUs", limit.without)
    }
  }

  fileprivate mutating func basis(_ basis: Estimate.Basis) {
    object("basis") {
      $0.array("runs", of: basis.runs.map(\.text))
      $0.duration("assumedUs", basis.assumed)
      $0.array("unmeasured", of: basis.unmeasured.map(\.text))
      $0.array("changed", of: basis.changed.map(\.text))
      $0.array("unforeseeable", of: basis.unforeseeable.map(\.text))
      $0.array("cached", of: basis.cached.map(\.text))
      $0.array("conditions", of: basis.conditions.map(\.text))
      $0.array("openConditions", of: basis.openConditions.map(\.text))
      $0.array("loops", of: basis.loops.map(\.text))
      $0.array("openLoops", of: basis.openLoops.map(\.text))
      $0.array("inputs", of: basis.inputs)
    }
  }
}
