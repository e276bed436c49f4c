import WeftHTTP

/// The meaning of a status, in a few words (RFC 9110 §15, RFC 6585).
enum StatusReason {
  static func text(_ status: Int) -> String? {
    switch status {
    case 300: "several choices"
    case 301, 308: "moved for good"
    case 302, 303, 307: "redirected"
    case 304: "not modified"
    case 400: "bad request"
    case 401: "not authenticated"
    case 403: "forbidden"
    case 404: "not found"
    case 405: "method not allowed"
    case 406: "not acceptable"
    case 408: "request took too long"
    case 409: "conflict"
    case 410: "gone"
    case 411: "length required"
    case 412: "precondition failed"
    case 413: "request too large"
    case 415: "unsupported kind of body"
    case 416: "no such range"
    case 422: "not processable"
    case 425: "too early"
    case 429: "too many requests"
    case 500: "internal error"
    case 501: "not implemented"
    case 502: "bad gateway"
    case 503: "unavailable"
    case 504: "gateway timed out"
    default: nil
    }
  }

  static func help(_ response: HTTPResponse) -> String? {
    switch response.status {
    case 401:
      "say who asks: \"auth\": { \"bearer\": \"${{ secrets.… }}\" }"
    case 300...399: "it is followed where \"redirects\" is more than 0"
    default: nil
    }
  }
}
