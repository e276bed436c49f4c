import Testing

@testable import WeftEvents
@testable import WeftExecution

@Suite struct InstanceNumbersTests {
  @Test func numbersStandInARowAndAfterThePlans() {
    var numbers = InstanceNumbers(from: 7)
    let rows = [numbers.take(3), numbers.take(1), numbers.take(0), numbers.take(3)]
    #expect(rows == [7..<10, 10..<11, 11..<11, 11..<14])
  }

  @Test func rowsOfTheSameCountAreHandedOutAgain() {
    var numbers = InstanceNumbers(from: 0)
    let (pair, single) = (numbers.take(2), numbers.take(1))
    numbers.giveBack(pair)
    numbers.giveBack(single)
    let rows = [numbers.take(1), numbers.take(1), numbers.take(2)]
    #expect(rows == [2..<3, 3..<4, 0..<2])
    #expect(numbers.end == 4)
  }
}
