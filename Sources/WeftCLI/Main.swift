import WeftPlatform

/// The command-line program `weft`.
///
/// The order of events: ``Invocation`` interprets the arguments, using the table of commands and options from which
/// help and completions are also generated; ``Program`` executes it; an ``ExitCode`` is the result. `weft run` is
/// ``RunCommand`` up to a plan, then ``RunSession``.
@main
enum Main {
  static func main() {
    ThisProcess.fillStandardStreams()
    SignalListener.ignoreBrokenPipes()
    SignalListener.ignoreFileSizeLimits()
    SignalListener.restoreChildSignal()
    SignalListener.settleDispositions()
    let code = Program().run(ThisProcess.arguments)
    ThisProcess.exit(code.status)
  }
}
