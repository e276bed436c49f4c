/// Takes what a program writes. It is called on the thread that runs the program, which is held back by
/// its full pipe meanwhile; it must not run another program on that thread: they would share its buffer.
package protocol ProgramOutput {
  /// One piece as it was read, cut anywhere; pieces come in order within a stream. The bytes are the
  /// callee's until it returns.
  func take(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration)

  /// When it wants to be told that time has passed though nothing was written; `nil`: never.
  var alarm: Duration? { get }

  /// The alarm's time has come. The alarm must be another one after it.
  func timePassed(until now: Duration)
}

/// Output that is dealt with as it comes.
struct ImmediateOutput: ProgramOutput {
  let handle: (OutputStream, UnsafeRawBufferPointer) -> Void

  var alarm: Duration? { nil }

  func take(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration) {
    handle(stream, bytes)
  }

  func timePassed(until now: Duration) {}
}

extension ChildProgram {
  /// Runs the program to its end, see ``run(stop:started:output:)``, and hands over each piece of its
  /// output as it comes.
  package func run(
    stop: StopSwitch, started: (StartedProgram) -> Void = { _ in },
    output: @escaping (OutputStream, UnsafeRawBufferPointer) -> Void
  ) throws(ProgramNotStarted) -> ProgramEnd {
    try run(stop: stop, started: started, output: ImmediateOutput(handle: output))
  }
}
