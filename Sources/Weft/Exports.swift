// An embedding program needs a single import: the workflow that it builds or reads, the plan, the events and
// the report, futures and requests come from separate modules.
@_exported public import WeftCurl
@_exported public import WeftDefinition
@_exported public import WeftDiagnostics
@_exported public import WeftEvents
@_exported public import WeftExecution
@_exported public import WeftFutures
@_exported public import WeftHTTP
@_exported public import WeftJSON
@_exported public import WeftPlanning
@_exported public import WeftRecord
