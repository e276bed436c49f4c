import Testing

struct GoldenTests {
  @Test(arguments: GoldenCase.all)
  func theProgramSaysWhatIsKept(of golden: GoldenCase) {
    #expect(golden.mismatches() == [])
  }

  @Test func thereAreCases() {
    #expect(GoldenCase.all.count > 10)
  }
}
