import CWeftCurl

/// The functions that libcurl calls; each finds its exchange through the context. On the driver's thread only.
final class CurlCallbacks {
  let table: UnsafeMutablePointer<weft_curl_callbacks>

  init() {
    table = .allocate(capacity: 1)
    table.initialize(
      to: weft_curl_callbacks(
        will_send: { context, _, _ in exchange(context).willSend() },
        header: { context, bytes, count in
          exchange(context).headerCame(UnsafeRawBufferPointer(start: bytes, count: count))
        },
        body: { context, bytes, count in
          exchange(context).bodyCame(UnsafeRawBufferPointer(start: bytes, count: count))
        },
        read: { context, bytes, room in
          exchange(context).bodyWanted(UnsafeMutableRawBufferPointer(start: bytes, count: room))
        },
        rewind: { context in exchange(context).bodyWantedAgain() ? 1 : 0 },
        admit: { context, address, count in
          exchange(context).admits(Array(UnsafeBufferPointer(start: address, count: count))) ? 1 : 0
        }))
  }

  deinit {
    table.deinitialize(count: 1)
    table.deallocate()
  }
}

/// Safe because the driver keeps an exchange as long as its transfer is in the loop.
private func exchange(_ context: UnsafeMutableRawPointer?) -> CurlExchange {
  Unmanaged<CurlExchange>.fromOpaque(context!).takeUnretainedValue()
}
