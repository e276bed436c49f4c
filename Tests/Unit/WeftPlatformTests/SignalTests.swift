import Glibc
import Testing

@testable import WeftPlatform

@Suite struct SignalTests {
  @Test func signalsAreKnownByName() {
    #expect(Signal(name: "TERM") == .terminate)
    #expect(Signal(name: "SIGINT") == .interrupt)
    #expect(Signal(name: "term") == nil && Signal(name: "") == nil && Signal(name: "SIG") == nil)
    #expect(Signal.kill.name == "KILL" && Signal(rawValue: 40).name == "40")
    #expect(Signal.interrupt.shellExitCode == 130)
    for name in Signal.knownNames { #expect(Signal(name: name)?.name == name) }
  }

  /// Runs in a process of its own, because signal dispositions belong to the process.
  @Test("K20: a signal that is ignored at the start stays ignored")
  func ignoredSignals() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let ignored = Signal(rawValue: SIGXFSZ)
      let listener = try SignalListener.start([ignored]) { _ in }
      #expect(listener.signals.isEmpty)
    }
  }

  /// Runs in a process of its own: the listener changes the signal's disposition, and its thread is found by name.
  @Test func signalIsReportedOnTheListenersThread() async {
    await #expect(processExitsWith: .success) {
      let reported = Collected<Signal>()
      let listener = try SignalListener.start([.user2]) { reported.add($0) }
      #expect(listener.signals == [.user2])
      // Sent to that thread alone: other threads of the test do not block the signal.
      let script = """
        import ctypes, os, sys
        tasks = '/proc/%s/task/' % sys.argv[1]
        names = {t: open(tasks + t + '/comm').read().strip() for t in os.listdir(tasks)}
        for task, name in names.items():
            if name == 'weft-signals':
                ctypes.CDLL(None).tgkill(int(sys.argv[1]), int(task), \(SIGUSR2))
        """
      #expect(try run(["python3", "-c", script, String(getpid())]).end.exited(with: 0))
      #expect(eventually { reported.count == 1 })
      #expect(reported.all == [.user2])
    }
  }
}
