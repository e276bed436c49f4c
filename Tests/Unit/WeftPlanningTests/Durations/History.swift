import WeftPlanning

/// The duration history of steps that each took this many milliseconds in one run.
func history(_ milliseconds: KeyValuePairs<String, Int>) -> DurationHistory {
  history(milliseconds.map { ($0.key, $0.value) })
}

func history(_ milliseconds: [(key: String, value: Int)]) -> DurationHistory {
  DurationHistory(
    milliseconds.map { address, milliseconds in
      DurationHistory.Entry(address, MeasuredStep(recent: [milliseconds * 1000], times: 1)!)
    })
}
