import WeftPlatform

/// The command-line program `weft`.
///
/// In the order in which it happens: ``Invocation`` says what the arguments ask for, by the one table
/// of commands and options that help and completions are made from as well; ``Program`` does it; an
/// ``ExitCode`` tells how it went. `weft run` is ``RunCommand`` up to a plan, then ``RunSession``.
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
