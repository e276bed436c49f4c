/// A consumer of a program's output. It is called on the thread that runs the program, which meanwhile blocks once its
/// pipe is full. It must not run a different program on that thread, because both would share a buffer.
package protocol ProgramOutput {
  /// Takes one piece as it was read, split anywhere; pieces arrive in order within a stream. The bytes are valid until
  /// it returns.
  func take(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration)

  /// The time at which it wants to be called even without output; `nil`: never.
  var alarm: Duration? { get }

  /// Called at the time of the alarm. The alarm must have a different value afterwards.
  func timePassed(until now: Duration)
}

/// Output that is handled as it arrives.
struct ImmediateOutput: ProgramOutput {
  let handle: (OutputStream, UnsafeRawBufferPointer) -> Void

  var alarm: Duration? { nil }

  func take(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration) {
    handle(stream, bytes)
  }

  func timePassed(until now: Duration) {}
}

extension ChildProgram {
  /// Runs the program to its end, see ``run(stop:started:output:)``, and passes on each piece of its output as it
  /// arrives.
  package func run(
    stop: StopSwitch, started: (StartedProgram) -> Void = { _ in },
    output: @escaping (OutputStream, UnsafeRawBufferPointer) -> Void
  ) throws(SpawnError) -> ProgramEnd {
    try run(stop: stop, started: started, output: ImmediateOutput(handle: output))
  }
}
