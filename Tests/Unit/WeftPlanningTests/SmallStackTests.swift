import Synchronization
import TestSupport
import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A pool's thread has 512 KiB of stack; no path length may need more.
struct SmallStackTests {
  static let workflows: [(name: String, workflow: Workflow)] = [
    ("a chain", Workflow(steps: (0..<largeCount).map { _ in Step(run: "true") })),
    (
      "a chain against the file's order",
      Workflow(
        parallel: (0..<largeCount).map { index in
          Step(StepID("s\(index)")!, needs: index == largeCount - 1 ? [] : [Need("s\(index + 1)")])
        })
    ),
    (
      "a cycle",
      Workflow(
        parallel: (0..<largeCount).map {
          Step(StepID("s\($0)")!, needs: [Need("s\(($0 + 1) % largeCount)")])
        })
    ),
    (
      "64 groups around 1,000 steps",
      Workflow(steps: [
        (1...64).reduce(Step(steps: (0..<1000).map { _ in Step(run: "true") })) {
          step, depth in
          depth == 64 ? step : Step(StepID("g\(depth)")!, steps: [step])
        }
      ])
    ),
  ]

  @Test(arguments: workflows.indices)
  func planningAndPrintingNeedNoStack(index: Int) {
    let printed = Mutex(0)
    withSmallStack {
      let (plan, diagnostics) = Planner.plan(SmallStackTests.workflows[index].workflow)
      #expect((plan == nil) == diagnostics.contains(where: \.isError))
      // A debug build takes seconds for each of the large ones.
      let isLarge = (plan?.steps.count ?? 0) > 1000
      for format in isLarge ? [PlanFormat.table] : PlanFormat.allCases {
        let count = plan?.rendered(as: format).count ?? diagnostics.count
        printed.withLock { $0 += count }
      }
    }
    #expect(printed.withLock(\.self) > 0)
  }
}

private final class Work: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func withSmallStack(_ body: @escaping @Sendable () -> Void) {
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  #expect(pthread_attr_setstacksize(&attributes, 512 << 10) == 0)
  let work = Unmanaged.passRetained(Work(body)).toOpaque()
  #if canImport(Darwin)
    var thread: pthread_t?
    let status = pthread_create(&thread, &attributes, { start($0) }, work)
    if status == 0, let thread { pthread_join(thread, nil) }
  #else
    var thread = pthread_t()
    let status = pthread_create(&thread, &attributes, { start($0!) }, work)
    if status == 0 { pthread_join(thread, nil) }
  #endif
  #expect(status == 0)
}

private func start(_ work: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
  return nil
}
