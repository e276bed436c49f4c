import Testing

struct GoldenTests {
  @Test(arguments: GoldenCase.all)
  func cleanReportsTheRunsItKeeps(of golden: GoldenCase) {
    #expect(golden.mismatches() == [])
  }

  @Test func goldenCasesExist() {
    #expect(GoldenCase.all.count > 10)
  }
}
