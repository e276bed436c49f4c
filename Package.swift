// swift-tools-version: 6.2

import PackageDescription

/// Every Swift target is built alike; an exception would have to say why.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// Arrows point only up this list: a module knows those above it, never those below.
let modules: [(name: String, knows: [Target.Dependency])] = [
  ("WeftFutures", []),
  ("WeftDiagnostics", []),
  ("WeftEncoding", ["CWeftPlatform"]),
  ("WeftJSON", ["WeftDiagnostics", "WeftEncoding"]),
  ("WeftExpressions", ["WeftDiagnostics", "WeftJSON", "WeftEncoding"]),
  ("WeftShell", ["WeftDiagnostics", "WeftEncoding"]),
  ("WeftPatterns", ["WeftDiagnostics"]),
  ("WeftDrawing", []),
  (
    "WeftDefinition",
    [
      "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions", "WeftShell", "WeftPatterns",
    ]
  ),
  ("WeftPlatform", ["WeftFutures", "WeftEncoding", "CWeftPlatform"]),
  ("WeftHTTP", ["WeftFutures", "WeftEncoding", "WeftPlatform"]),
  ("WeftCurl", ["WeftEncoding", "WeftFutures", "WeftPlatform", "WeftHTTP", "CWeftCurl"]),
  (
    "WeftCaching",
    ["WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions", "WeftPlatform"]
  ),
  (
    "WeftPlanning",
    // Of HTTP only what a request may be: nothing is sent.
    [
      "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions", "WeftShell", "WeftDrawing",
      "WeftDefinition", "WeftHTTP",
    ]
  ),
  (
    "WeftEvents",
    [
      "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions", "WeftDefinition",
      "WeftPlanning", "WeftPlatform", "WeftHTTP",
    ]
  ),
  (
    "WeftExecution",
    [
      "WeftFutures", "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions",
      "WeftDefinition", "WeftPlanning", "WeftPlatform", "WeftHTTP", "WeftCurl", "WeftCaching",
      "WeftEvents",
    ]
  ),
  (
    "WeftRecord",
    [
      "WeftFutures", "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions",
      "WeftDefinition", "WeftPlanning", "WeftPlatform", "WeftHTTP", "WeftEvents", "WeftExecution",
    ]
  ),
  (
    "WeftReporting",
    [
      "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions", "WeftDefinition",
      "WeftPlanning",
      "WeftPlatform", "WeftHTTP", "WeftEvents", "WeftExecution", "WeftRecord",
    ]
  ),
  (
    "WeftReports",
    [
      "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions", "WeftDrawing",
      "WeftDefinition", "WeftPlanning", "WeftPlatform", "WeftHTTP", "WeftEvents", "WeftExecution",
      "WeftRecord", "WeftReporting", "CWeftReports",
    ]
  ),
  (
    "Weft",
    [
      "WeftFutures", "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions",
      "WeftDefinition", "WeftPlanning", "WeftPlatform", "WeftHTTP", "WeftCurl", "WeftCaching",
      "WeftEvents", "WeftExecution", "WeftRecord", "WeftReporting", "WeftReports",
    ]
  ),
  (
    // Not part of Weft: a program that sends no traces does not link it.
    "WeftTelemetry",
    [
      "WeftFutures", "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftDefinition",
      "WeftPlanning",
      "WeftPlatform", "WeftHTTP", "WeftCurl", "WeftEvents", "WeftExecution", "Weft",
    ]
  ),
  (
    // For editors. Only `weft` links it.
    "WeftLanguageServer",
    [
      "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions", "WeftDefinition",
      "WeftPlanning", "Weft",
    ]
  ),
  (
    "WeftTestKit",
    [
      "WeftFutures", "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions",
      "WeftDefinition",
      "WeftDrawing", "WeftPlanning", "WeftPlatform", "WeftHTTP", "WeftCurl", "WeftEvents",
      "WeftExecution", "WeftRecord", "WeftReporting", "Weft",
    ]
  ),
]

let libraries: [Target] = modules.map { module in
  .target(name: module.name, dependencies: module.knows, swiftSettings: settings)
}

/// Files that tests read from where they stand.
let testData = [
  "WeftShell": ["Golden"], "WeftDefinition": ["Cases", "TestFileCases"],
  "WeftPlanning": ["Corpus", "Golden"],
  "WeftRecord": ["Corpus"],
  "WeftReporting": ["Golden"], "WeftTestKit": ["Files"],
]

/// What tests need beyond what their module knows: a published suite is JSON, and a problem is compared as text.
let testAids: [String: [Target.Dependency]] = [
  "WeftDefinition": ["WeftReporting"], "WeftDiagnostics": ["WeftReporting"],
  "WeftHTTP": ["WeftDiagnostics", "WeftJSON", "WeftCurl", "CWeftCurl"],
  "WeftJSON": ["WeftReporting"],
  "WeftPlanning": ["WeftReporting"],
]

/// One test target for each module, which also sees what the module sees. That of WeftHTTP tests it with real servers,
/// and so WeftCurl.
let moduleTests: [Target] = modules.filter { $0.name != "WeftCurl" }.map { module in
  .testTarget(
    name: module.name + "Tests",
    dependencies: [.byName(name: module.name), "TestSupport"] + module.knows
      + (testAids[module.name] ?? []) + (module.name == "WeftTestKit" ? [] : ["WeftTestKit"]),
    path: "Tests/Unit/\(module.name)Tests", exclude: testData[module.name] ?? [],
    swiftSettings: settings)
}

let package = Package(
  name: "weft",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Weft", targets: ["Weft"]),
    .library(name: "WeftFutures", targets: ["WeftFutures"]),
    .library(name: "WeftTelemetry", targets: ["WeftTelemetry"]),
    .library(name: "WeftTestKit", targets: ["WeftTestKit"]),
    .executable(name: "weft", targets: ["WeftCLI"]),
  ],
  targets: [
    .target(name: "CWeftPlatform"),
    // libcurl itself is opened at run time; only what opens it is linked.
    .target(
      name: "CWeftCurl", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "CWeftSchemas"),
    .target(name: "CWeftReports", exclude: ["page"]),
    .target(
      name: "CWeftBenchmarks", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
  ] + libraries + moduleTests,
  // For #embed.
  cLanguageStandard: .c2x
)

package.targets += [
  .target(
    name: "TestSupport", dependencies: ["WeftFutures"], path: "Tests/Support",
    swiftSettings: settings),
  .executableTarget(
    name: "WeftCLI",
    dependencies: [
      "WeftDiagnostics", "WeftJSON", "WeftEncoding", "WeftExpressions", "WeftDefinition",
      "WeftPlanning",
      "WeftPlatform", "WeftCaching", "WeftEvents", "WeftExecution", "WeftRecord", "Weft",
      "WeftReporting", "WeftReports", "WeftTelemetry", "WeftLanguageServer", "WeftTestKit",
      "CWeftSchemas",
    ],
    swiftSettings: settings),
  .executableTarget(
    name: "WeftBenchmarks",
    dependencies: [
      "WeftFutures", "WeftDiagnostics", "WeftJSON", "WeftExpressions", "WeftDefinition",
      "WeftPlanning", "WeftPlatform", "WeftHTTP", "WeftCurl", "WeftEvents", "WeftExecution",
      "WeftRecord",
      "CWeftBenchmarks",
    ],
    swiftSettings: settings),
  .testTarget(
    name: "SimulationTests",
    dependencies: [
      "WeftFutures", "WeftJSON", "WeftDefinition", "WeftPlanning", "WeftPlatform", "WeftEvents",
      "WeftExecution", "WeftRecord", "WeftReporting", "WeftReports", "WeftTelemetry", "WeftTestKit",
    ],
    path: "Tests/Simulation",
    swiftSettings: settings),
  .testTarget(
    name: "ShellTests",
    dependencies: ["WeftShell", "WeftPlatform", "WeftTestKit", "TestSupport"],
    path: "Tests/Shell",
    swiftSettings: settings),
  .testTarget(
    name: "CommandLineTests",
    dependencies: [
      "Weft", "WeftCLI", "WeftPlanning", "WeftEvents", "WeftExecution", "WeftRecord", "WeftTestKit",
      "TestSupport",
    ],
    path: "Tests/CommandLine", exclude: ["Golden"],
    swiftSettings: settings),
]

// An example of a program with Weft inside, which sees only what is public.
package.targets += [
  .target(
    name: "DeployService", dependencies: ["Weft", "WeftFutures"],
    path: "Tests/Example/Sources/DeployService", packageAccess: false,
    swiftSettings: [.treatAllWarnings(as: .error)]),
  .executableTarget(
    name: "deploy", dependencies: ["DeployService", "Weft", "WeftFutures"],
    path: "Tests/Example/Sources/deploy",
    packageAccess: false, swiftSettings: [.treatAllWarnings(as: .error)]),
  .testTarget(
    name: "DeployServiceTests",
    dependencies: ["DeployService", "Weft", "WeftFutures", "WeftTestKit"],
    path: "Tests/Example/Tests/DeployServiceTests",
    packageAccess: false, swiftSettings: [.treatAllWarnings(as: .error)]),
]
