import Testing
import WeftFutures

/// Random pipelines, compared with the same operations on arrays.
@Suite struct StreamModelTests {
  private typealias Numbers = Publisher<Int, Oops>

  /// One operation on a stream, and on all its values at once.
  private struct Step {
    var name: String
    var stream: (Numbers) -> Numbers
    var model: ([Int]) -> [Int]

    static func random(using random: inout Seeded) -> Step {
      let number = Int.random(in: 0...6, using: &random)
      let steps: [Step] = [
        Step(name: "map") {
          $0.map { $0 &* 3 &+ number }
        } model: {
          $0.map { $0 &* 3 &+ number }
        },
        Step(name: "filter") {
          $0.filter { $0 % 7 != number }
        } model: {
          $0.filter { $0 % 7 != number }
        },
        Step(name: "scan") {
          $0.scan(number) { $0 &+ $1 }
        } model: { values in
          var sum = number
          return values.map {
            sum &+= $0
            return sum
          }
        },
        Step(name: "prefix \(number)") {
          $0.prefix(number * 8)
        } model: {
          Array($0.prefix(number * 8))
        },
        Step(name: "dropFirst \(number)") {
          $0.dropFirst(number)
        } model: {
          Array($0.dropFirst(number))
        },
        Step(name: "drop while") {
          $0.drop { $0 % 3 == 0 }
        } model: {
          Array($0.drop { $0 % 3 == 0 })
        },
        Step(name: "prefix while") {
          $0.prefix { $0 % 11 != number }
        } model: {
          Array($0.prefix { $0 % 11 != number })
        },
        Step(name: "removeDuplicates") {
          $0.map { $0 / 4 }.removeDuplicates()
        } model: { values in
          values.map { $0 / 4 }.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
        },
        Step(name: "append") {
          $0.append(number)
        } model: {
          $0 + [number]
        },
        Step(name: "prepend") {
          $0.prepend(number)
        } model: {
          [number] + $0
        },
        Step(name: "concatMap") {
          $0.concatMap { Numbers([$0, number]) }
        } model: {
          $0.flatMap { [$0, number] }
        },
        Step(name: "collect") {
          $0.collect(number + 1).map { $0.reduce(0, &+) }
        } model: { values in
          stride(from: 0, to: values.count, by: number + 1).map { start in
            values[start...].prefix(number + 1).reduce(0, &+)
          }
        },
        Step(name: "zip") {
          $0.zip(Numbers(0..<40)).map { $0 &+ $1 }
        } model: { values in
          zip(values, 0..<40).map { $0 &+ $1 }
        },
        Step(name: "buffer") {
          $0.buffer(.bounded(number + 1))
        } model: {
          $0
        },
        Step(name: "catch") {
          $0.catch { _ in .just(-1) }
        } model: {
          $0
        },
        Step(name: "share") {
          $0.share()
        } model: {
          $0
        },
        Step(name: "many maps") { source in
          (0..<50).reduce(source) { source, _ in source.map { $0 } }
        } model: {
          $0
        },
      ]
      return steps.randomElement(using: &random) ?? steps[0]
    }

    init(
      name: String, _ stream: @escaping (Numbers) -> Numbers, model: @escaping ([Int]) -> [Int]
    ) {
      self.name = name
      self.stream = stream
      self.model = model
    }
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func aPipelinePublishesWhatItsModelHas(seed: UInt64) async {
    var random = Seeded(seed)
    let values = (0..<Int.random(in: 0...60, using: &random)).map { _ in
      Int.random(in: -50...50, using: &random)
    }
    let steps = (0..<Int.random(in: 1...8, using: &random)).map { _ in
      Step.random(using: &random)
    }
    let expected = steps.reduce(values) { $1.model($0) }
    let names = steps.map(\.name)
    let build: (Numbers) -> Numbers = { source in steps.reduce(source) { $1.stream($0) } }

    let pulled = build(Numbers(values)).record()
    #expect(pulled.values == expected, "from a sequence: \(names)")
    #expect(pulled.completion == .finished)

    let subject = PassthroughSubject<Int, Oops>()
    let pushed = build(subject.publisher()).record()
    for value in values { subject.send(value) }
    subject.send(completion: .finished)
    #expect(pushed.values == expected, "from a subject: \(names)")
    #expect(pushed.completion == .finished)

    let body = Numbers { send throws(Oops) in for value in values { await send(value) } }
    var iterator = build(body).values().makeAsyncIterator()
    var looped: [Int] = []
    while let value = try? await iterator.next() { looped.append(value) }
    #expect(looped == expected, "from a task to a loop: \(names)")
  }
}
