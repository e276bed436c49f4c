import WeftPlatform

/// nginx, serving small responses and one big file of a workshop's folder until it is stopped.
final class Nginx {
  static let bigBytes = 500 << 20
  let small: String
  let big: String
  private let stop = StopSwitch()
  private let threads = ThreadPool(name: "nginx")

  /// `nil` if there is no nginx, or if it does not respond.
  init?(in shop: Scratch) {
    // Below the ephemeral ports of the system.
    let port = 20_000 + Int(ThisProcess.id) % 12_000
    (small, big) = ("http://127.0.0.1:\(port)/small", "http://127.0.0.1:\(port)/big")
    shop.write(Self.configuration(port), to: "nginx.conf")
    guard shop.end(of: ["truncate", "-s", String(Self.bigBytes), "big"]) != nil else { return nil }
    let start = "PATH=$PATH:/usr/sbin exec nginx -p ./ -c nginx.conf -e error.log"
    let program = ChildProgram(
      ["sh", "-c", start], environment: .inherited(), directory: shop.folder)
    let stop = stop
    let job: ThreadPool.Job = { _ = try? program.run(stop: stop, output: { _, _ in }) }
    let answers = "for i in $(seq 50); do curl -sf \(small) && exit; sleep 0.1; done; exit 1"
    guard (try? threads.submit(job)) != nil, shop.end(of: ["sh", "-c", answers]) != nil else {
      close()
      return nil
    }
  }

  func close() {
    stop.request(.graceful)
    threads.close()
  }

  private static func configuration(_ port: Int) -> String {
    """
    user root;
    daemon off;
    worker_processes 1;
    pid nginx.pid;
    events { worker_connections 512; }
    http {
      access_log off;
      client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
      server {
        listen 127.0.0.1:\(port);
        keepalive_requests 1000000;
        root .;
        location /small { default_type application/json; return 200 '{"id":4711,"state":"ready"}'; }
      }
    }
    """
  }
}
