import Testing

@testable import WeftPlatform

@Suite struct TerminalHolderTests {
  @Test(
    "K23: a program that ^Z has stopped gives the terminal back, and gets it again in the foreground"
  )
  func stoppedProgramReturnsTheTerminal() {
    var holder = TerminalHolder()
    #expect(holder.programStopped(wantedTerminal: false) == .takeBackAndStop)
    #expect(!holder.isLent)
    // Seen at every look, and while this process is about to stop.
    #expect(holder.programStopped(wantedTerminal: false) == .nothing)
    #expect(holder.engineStops() == .nothing)
    #expect(holder.next(isForeground: true) == .nothing)
    holder.engineContinues()
    #expect(holder.next(isForeground: true) == .lend)
    #expect(holder.isLent)
    #expect(holder.next(isForeground: true) == .nothing)
  }

  @Test("K23: when this process is stopped, the program is stopped and the terminal taken back")
  func stoppedEngineStopsTheProgram() {
    var holder = TerminalHolder()
    #expect(holder.engineStops() == .stopAndTakeBack)
    #expect(holder.programStopped(wantedTerminal: false) == .nothing)
    holder.engineContinues()
    #expect(holder.next(isForeground: true) == .lend)
  }

  @Test("K23: continued in the background, the program waits for the foreground")
  func inTheBackground() {
    var holder = TerminalHolder()
    _ = holder.programStopped(wantedTerminal: false)
    holder.engineContinues()
    #expect(holder.next(isForeground: false) == .nothing)
    #expect(holder.next(isForeground: false) == .nothing)
    #expect(holder.next(isForeground: true) == .lend)
  }

  @Test("K23: a program that lost the terminal to a shell waits, and stops nobody else")
  func theTerminalWasTakenAway() {
    var holder = TerminalHolder()
    #expect(holder.programStopped(wantedTerminal: true) == .nothing)
    #expect(holder.next(isForeground: false) == .nothing)
    #expect(holder.next(isForeground: true) == .lend)
  }

  @Test func aProgramCanBeStoppedAgainAndAgain() {
    var holder = TerminalHolder()
    for _ in 0..<3 {
      #expect(holder.programStopped(wantedTerminal: false) == .takeBackAndStop)
      holder.engineContinues()
      #expect(holder.next(isForeground: true) == .lend)
    }
  }
}
