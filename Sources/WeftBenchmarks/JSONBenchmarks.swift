import CWeftBenchmarks
import WeftDiagnostics
import WeftJSON

/// Reading and writing JSON: a workflow of 100,000 steps with 500,000 edges, and event lines.
enum JSONBenchmarks {
  static var all: [Benchmark] {
    let file = { SourceFile(path: "steps.json", bytes: JSONSample.workflow(steps: 100_000)) }
    return [
      Benchmark("json/read") { reading(file(), $0) },
      Benchmark("json/memory") { $0.add(memory(of: file())) },
      Benchmark("json/write", writing),
    ]
  }

  // MARK: Reading

  private static func reading(_ file: SourceFile, _ report: BenchmarkReport) {
    let megabytes = (Double(file.bytes.count) / 1e5).rounded() / 10
    let root = JSONReader.read(file).root
    let sum = report.seconds { keep(byteSum(file)) } * 1e3
    func add(_ name: String, _ work: () -> Void) {
      report.add(
        BenchmarkRow(
          name: "\(megabytes) MB, \(name)", measured: report.seconds(work) * 1e3, unit: "ms",
          baselineName: "sum of its bytes", baseline: sum))
    }
    add("to nodes") { keep(JSONReader.read(file, beside: nil).root) }
    add("to nodes, keys compared") { keep(JSONReader.read(file).root) }
    add("a visit of all nodes by key") { keep(root.map(visit)) }
  }

  /// The bare loop: the cost of reading every byte once, one at a time.
  @inline(never)
  private static func byteSum(_ file: SourceFile) -> Int {
    var sum = 0
    for byte in file.bytes { sum = (sum &* 31) &+ Int(byte) }
    return sum
  }

  /// Visits the nodes as a decoder does: looks up members by name, makes strings, counts needs.
  private static func visit(_ root: JSONNode) -> Int {
    var count = 0
    for step in root.member("steps")?.elements ?? JSONElements(of: root) {
      for member in step.members {
        if member.key.isString("id") || member.key.isString("run") {
          count += member.value.stringValue?.utf8.count ?? 0
        } else if member.key.isString("needs") {
          for need in member.value.elements { count += need.stringValue?.utf8.count ?? 0 }
        }
      }
    }
    return count
  }

  /// Resident memory with the file and its nodes, against the file alone.
  private static func memory(of file: SourceFile) -> BenchmarkRow {
    // Memory that earlier cases have left in the allocator would be reused, and not be counted.
    weft_release_free_memory()
    let before = residentBytes()
    let root = JSONReader.read(file).root
    let nodes = residentBytes() - before
    keep(root?.document.nodeCount)
    let size = Double(file.bytes.count)
    return BenchmarkRow(
      name: "memory, file and nodes", measured: (size + nodes) / 1e6, unit: "MB",
      baselineName: "the file", baseline: size / 1e6)
  }

  // MARK: Writing

  private static func writing(_ report: BenchmarkReport) {
    let lines = 100_000
    let line = JSONSample.eventLine(1)
    var copies: [UInt8] = []
    let copied = report.seconds {
      copies.removeAll(keepingCapacity: true)
      for _ in 0..<lines { copies.append(contentsOf: line) }
      keep(copies.count)
    }
    var writer = JSONWriter(capacity: 1 << 16)
    let written = report.seconds {
      for number in 0..<lines {
        JSONSample.writeEvent(number, to: &writer)
        if writer.count > 1 << 16 { writer.removeAll() }
      }
      keep(writer.count)
    }
    let scale = 1e9 / Double(lines)
    report.add(
      BenchmarkRow(
        name: "write an event of \(line.count) bytes", measured: written * scale, unit: "ns",
        baselineName: "copy the same bytes", baseline: copied * scale))
  }
}

/// The texts that are read and written.
private enum JSONSample {
  /// A workflow of about 180 bytes per step: id, command, and the ids of five earlier steps.
  static func workflow(steps: Int) -> [UInt8] {
    var writer = JSONWriter(capacity: steps * 200)
    writer.beginObject()
    writer.member("name", "benchmark")
    writer.key("steps")
    writer.beginArray()
    for index in 0..<steps {
      writer.beginObject()
      writer.member("id", id(index))
      writer.member("run", "make -C build/part-\(index) CFLAGS=\"-O2 -g\" all install DESTDIR=out")
      writer.key("needs")
      writer.beginArray()
      for back in 1...5 where index >= back * back { writer.string(id(index - back * back)) }
      writer.endArray()
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    writer.endLine()
    return writer.bytes
  }

  private static func id(_ index: Int) -> String { "step-\(1_000_000 + index)" }

  static func eventLine(_ number: Int) -> [UInt8] {
    var writer = JSONWriter()
    writeEvent(number, to: &writer)
    return writer.bytes
  }

  static func writeEvent(_ number: Int, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("sequence", number)
    writer.member("time", "2026-01-02T03:04:05.678901Z")
    writer.member("type", "step.output")
    writer.member("run", "20260102-030405-7f3a")
    writer.member("step", "build.unit-tests")
    writer.member("attempt", 1)
    writer.member("stream", "stdout")
    writer.member("line", "[12/345] Compiling module with a longer name \"Weft\" (x86_64)")
    writer.endObject()
    writer.endLine()
  }
}
