import WeftDefinition

/// The requests of a job to its cluster.
struct SlurmRequest: Hashable {
  /// Arguments of `sbatch`, whose last value of an option counts.
  let arguments: [String]

  /// - Parameter timeout: The time limit of the step, after which the cluster may end the job, if no time is requested.
  init(_ cluster: SlurmCluster, _ resources: Command.Resources?, timeout: Duration?) {
    var arguments = SlurmCluster.Request.allCases.compactMap { request in
      cluster.requests[request].map { "--\(request.rawValue)=\($0)" }
    }
    arguments += cluster.options
    if let cpus = resources?.cpus { arguments.append("--cpus-per-task=\(cpus)") }
    if let memory = resources?.memory { arguments.append("--mem=\((memory.bytes + 1023) / 1024)K") }
    if let gpus = resources?.gpus { arguments.append("--gpus=\(gpus)") }
    // The engine ends the program after its time limit; the cluster does if there is no engine any more.
    let minutes = resources?.time.map { max(1, $0.minutesUp) } ?? timeout.map { $0.minutesUp + 1 }
    if let minutes { arguments.append("--time=\(minutes)") }
    self.arguments = arguments
  }
}

extension Duration {
  fileprivate var minutesUp: Int {
    let seconds = components.seconds + (components.attoseconds > 0 ? 1 : 0)
    return Int((seconds + 59) / 60)
  }
}
