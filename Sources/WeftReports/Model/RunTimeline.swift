package import WeftDefinition
package import WeftEvents
package import WeftPlanning
import WeftRecord

/// The times of a run: its steps in lanes, folded from its journal. The model of all reports.
///
/// The journal does not say which of the equal slots a step had, so lanes are assigned: an attempt takes the first lane
/// that is free. Two attempts in one lane never overlap.
package struct RunTimeline: Sendable, Hashable {
  /// The part of the run under one engine.
  package struct Part: Sendable, Hashable {
    /// The number of times that the run was resumed before.
    package let resumption: Int
    package let startedAt: WallTime
    /// The end of the part before.
    package let offset: Int
    package internal(set) var length = 0
    package internal(set) var maxParallel = 1

    package var end: Int { offset + length }
  }

  package struct Step: Sendable, Hashable {
    package let address: StepAddress
    /// Its waits and attempts, in order of time.
    package internal(set) var spans: [TimelineSpan] = []
    /// The slots of pools that it last waited for.
    package internal(set) var pools: [PoolRequest] = []

    /// The total time of spans of some kinds.
    package func time(_ kinds: TimelineSpan.Kind...) -> Int {
      spans.reduce(0) { kinds.contains($1.kind) ? $0 + $1.duration : $0 }
    }

    /// The time of all attempts; of services until they are ready.
    package var runningTime: Int { time(.running, .asking, .sleeping) }
    package var waitingTime: Int { time(.slot, .group, .pool, .rate, .cluster) }
    /// The end of its last attempt; `nil` if none has started, and while one runs.
    package var end: Int? {
      let last = spans.last { $0.kind.isAttempt }
      return last?.verdict == .running ? nil : last?.end
    }
    /// The time from which its dependents could start: its end or, for a service, the first time that it was ready.
    /// `nil` before that.
    package var done: Int? { lastExecution.first { $0.kind == .serving }?.start ?? end }
    /// The number of attempts, also of those that an enclosing group or another engine repeated. A wait or an approval
    /// that another engine continued is one attempt.
    package var attempts: Int {
      let attempts = spans.filter(\.beginsAttempt)
      let continued = attempts.dropLast().count {
        $0.verdict == .interrupted && ($0.kind == .asking || $0.kind == .sleeping)
      }
      return attempts.count - continued
    }

    /// The spans since the step became ready for the last time.
    package var lastExecution: ArraySlice<TimelineSpan> {
      let first = spans.lastIndex { $0.attempt == 1 && $0.beginsAttempt } ?? spans.startIndex
      let waits = spans[..<first].reversed().prefix { !$0.kind.isAttempt }.count
      return spans[(first - waits)...]
    }

    /// The times for which it held slots of pools: while its job waited for a cluster, while it ran, and as a service.
    var holdings: [Range<Int>] {
      var holdings: [Range<Int>] = []
      for span in spans where [.cluster, .running, .serving].contains(span.kind) {
        let start = holdings.last?.upperBound == span.start ? holdings.removeLast().lowerBound : nil
        holdings.append((start ?? span.start)..<max(span.start, span.end))
      }
      return holdings
    }
  }

  package private(set) var parts: [Part]
  /// The steps that have any record, in the order of their first ones.
  package private(set) var steps: [Step]
  /// The number of lanes.
  package private(set) var laneCount = 0
  package private(set) var slots = UsageSeries(name: "slots")
  package private(set) var pools: [UsageSeries] = []

  /// - Parameters:
  ///   - isLive: Whether an engine holds the run.
  ///   - now: The time up to which a live run is shown; `nil` for that of its last record.
  ///   - capacities: The slots of each pool, if the workflow is known.
  ///   - rates: The pools that have a rate.
  ///   - tolerated: The steps whose failure something around them tolerates.
  package init(
    _ builder: TimelineBuilder, isLive: Bool = false, now: WallTime? = nil,
    capacities: [String: Int] = [:], rates: Set<String> = [], tolerated: Set<StepAddress> = []
  ) {
    var builder = builder
    builder.close(isLive: isLive, at: now)
    (parts, steps) = (builder.parts, builder.steps)
    for index in steps.indices where tolerated.contains(steps[index].address) {
      steps[index].tolerate()
    }
    assignLanes()
    slots.capacity = parts.map(\.maxParallel).max()
    measureUse(capacities)
    tellWaitsApart(rates)
  }

  /// The time for which engines executed the run.
  package var duration: Int { parts.last?.end ?? 0 }

  /// The wall clock at a time of the run.
  package func moment(at time: Int) -> WallTime? {
    let part = parts.last { $0.offset <= time } ?? parts.first
    return part.map { $0.startedAt.advanced(by: .microseconds(time - $0.offset)) }
  }
}

// MARK: Lanes

extension RunTimeline {
  private mutating func assignLanes() {
    var attempts: [(start: Int, isMoment: Bool, step: Int, span: Int)] = []
    for (index, step) in steps.enumerated() {
      for (place, span) in step.spans.enumerated() where span.kind == .running {
        attempts.append((span.start, span.duration == 0, index, place))
      }
    }
    // Of attempts that start together, those without a length leave their lanes to the others.
    attempts.sort {
      ($0.start, $0.isMoment ? 0 : 1, $0.step, $0.span)
        < ($1.start, $1.isMoment ? 0 : 1, $1.step, $1.span)
    }
    var lanes: [(end: Int, step: Int)] = []
    for attempt in attempts {
      let part = parts.last { $0.offset <= attempt.start }
      let lane = RunTimeline.lane(for: attempt.start, in: lanes, limit: part?.maxParallel ?? 1)
      let isNew = lane == lanes.count
      if isNew { lanes.append((attempt.start, attempt.step)) }
      steps[attempt.step].settle(attempt.span, in: lane, after: lanes[lane].end)
      if !isNew { steps[attempt.step].spans[attempt.span].predecessor = lanes[lane].step }
      let span = steps[attempt.step].spans[attempt.span]
      lanes[lane] = (span.verdict == .running ? .max : span.end, attempt.step)
    }
    laneCount = lanes.count
  }

  /// Returns the first free lane; a new one if none is free. Since times of starts are truncated to milliseconds, a lane
  /// that is free a little later may be the one, and certainly is if there are as many lanes as slots.
  private static func lane(
    for start: Int, in lanes: [(end: Int, step: Int)], limit: Int
  ) -> Int {
    let tolerance = lanes.count < limit ? 2000 : TimelineBuilder.lateness
    var nearest: Int?
    for (index, lane) in lanes.enumerated() {
      if lane.end <= start { return index }
      if lane.end <= start + tolerance, lane.end < nearest.map({ lanes[$0].end }) ?? .max {
        nearest = index
      }
    }
    return nearest ?? lanes.count
  }
}

extension RunTimeline.Step {
  fileprivate mutating func tolerate() {
    guard let last = spans.lastIndex(where: \.kind.isAttempt), spans[last].verdict == .failed else {
      return
    }
    spans[last].verdict = .tolerated
  }

  /// Puts an attempt into a lane, not before its predecessor there has ended.
  fileprivate mutating func settle(_ place: Int, in lane: Int, after end: Int) {
    let delay = max(0, end - spans[place].start)
    spans[place].lane = lane
    spans[place].start += delay
    spans[place].end += delay
    if place > 0, !spans[place - 1].kind.isAttempt { spans[place - 1].end = spans[place].start }
    if place + 1 < spans.count, spans[place + 1].start < spans[place].end {
      spans[place + 1].start = min(spans[place].end, spans[place + 1].end)
    }
  }
}

// MARK: Waits

extension RunTimeline {
  private mutating func measureUse(_ capacities: [String: Int]) {
    var used: [String: UsageSeries] = [:]
    for (name, size) in capacities {
      used[name] = UsageSeries(name: name)
      used[name]?.capacity = size
    }
    for step in steps {
      for span in step.spans where span.kind == .running {
        slots.use(from: span.start, to: span.end)
      }
      for (pool, held) in step.pools.flatMap({ pool in step.holdings.map { (pool, $0) } }) {
        used[pool.pool, default: UsageSeries(name: pool.pool)]
          .use(pool.slots, from: held.lowerBound, to: held.upperBound)
      }
    }
    slots.finish()
    pools = used.values.sorted { $0.name < $1.name }
    for index in pools.indices {
      pools[index].finish()
    }
  }

  /// Decides for each wait of a step that needs slots of pools what it was for most of the time.
  ///
  /// It was for a pool that had too few slots; else for the rate or the group that it lacked when it was queued; else
  /// for a rate if the run had free slots; else for a slot. Where the sizes of the pools are not known, what the step
  /// lacked when it was queued counts or, if that is not recorded either, whether the run had free slots.
  private mutating func tellWaitsApart(_ rates: Set<String>) {
    let slots = self.slots.saturation(at: self.slots.capacity ?? .max)
    var known: [PoolRequest: UsageSeries.Saturation] = [:]
    for step in steps.indices where !steps[step].pools.isEmpty {
      let scarce = steps[step].pools.compactMap { request -> UsageSeries.Saturation? in
        if let saturation = known[request] { return saturation }
        guard let pool = pools.first(where: { $0.name == request.pool }), let size = pool.capacity
        else { return nil }
        known[request] = pool.saturation(at: size - request.slots + 1)
        return known[request]
      }
      let hasRate = steps[step].pools.contains { rates.contains($0.pool) }
      for place in steps[step].spans.indices where steps[step].spans[place].isForSlots {
        let span = steps[step].spans[place]
        let hadSlots = 2 * slots.time(of: span) < span.duration
        if scarce.isEmpty {
          if span.kind == .slot, hadSlots { steps[step].spans[place].kind = .pool }
          continue
        }
        let isForPool = scarce.contains {
          2 * $0.time(of: span) >= span.duration && span.duration > 0
        }
        steps[step].spans[place].kind =
          switch span.kind {
          case _ where isForPool: .pool
          case .group, .rate: span.kind
          default: hasRate && hadSlots ? .rate : .slot
          }
      }
    }
  }
}
