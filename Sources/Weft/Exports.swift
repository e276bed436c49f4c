// An embedding program needs a single import: the workflow that it builds or reads, the plan, the events and
// the report, futures and requests come from separate modules.
@_exported public import WeftCurl
@_exported public import WeftDefinition
@_exported public import WeftDiagnostics
@_exported public import WeftEvents
@_exported public import WeftExecution
@_exported public import WeftHTTP
@_exported public import WeftJSON
@_exported public import WeftPlanning
@_exported public import WeftRecord
@_exported public import WeftReporting
@_exported public import WeftReports

// Futures only: programs that use the streams beside them import WeftFutures.
@_exported public import struct WeftFutures.AllFailed
@_exported public import protocol WeftFutures.DropRepresentable
@_exported public import struct WeftFutures.Future
@_exported public import struct WeftFutures.NeitherValueNorError
@_exported public import class WeftFutures.Promise
@_exported public import struct WeftFutures.PromiseDroppedError
