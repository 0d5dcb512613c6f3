import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { startProgram } from './program.ts'

/** A Varnish of this test run, on a free port. */
export interface Varnish {
  url: string
  stop(): Promise<void>
}

/**
 * Starts Varnish in front of a service, as it comes, save for two request headers of tests: `X-Pass` has it keep
 * nothing, `X-Brief` keep a file for a tenth of a second and ask then whether it has changed. `X-Cache` of its
 * answers is `miss` or `hit`.
 */
export async function startVarnish(origin: { url: string }): Promise<Varnish> {
  const port = await freePort()
  const { hostname, port: originPort } = new URL(origin.url)
  const configuration = `
    vcl 4.1;
    backend default { .host = "${hostname}"; .port = "${originPort}"; }
    sub vcl_recv {
      if (req.http.X-Pass) { return (pass); }
    }
    sub vcl_backend_response {
      if (bereq.http.X-Brief) {
        set beresp.ttl = 0.1s;
        set beresp.grace = 0s;
        set beresp.keep = 1h;
      }
    }
    sub vcl_deliver {
      if (obj.hits > 0) { set resp.http.X-Cache = "hit"; } else { set resp.http.X-Cache = "miss"; }
    }`
  const { stop } = await startProgram({
    name: 'varnishd',
    port,
    async args(folder) {
      await writeFile(join(folder, 'default.vcl'), configuration)
      return [
        ...['-F', '-n', join(folder, 'work'), '-a', `127.0.0.1:${port}`, '-T', 'none'],
        ...['-f', join(folder, 'default.vcl'), '-s', 'malloc,64m', '-j', 'none'],
      ]
    },
  })
  return { url: `http://127.0.0.1:${port}`, stop }
}
