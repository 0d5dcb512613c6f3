import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../servers/free-port.ts'
import type { Cache } from './cache.ts'
import { startProgram } from './program.ts'

/** Starts Varnish with its defaults in front of a service. Its `X-Cache` header is MISS or HIT. */
export async function startVarnish(origin: { url: string }): Promise<Cache> {
  const [passing, caching, renewing] = await Promise.all([freePort(), freePort(), freePort()])
  const { hostname, port } = new URL(origin.url)
  const configuration = `
    vcl 4.1;
    backend default { .host = "${hostname}"; .port = "${port}"; }
    sub vcl_recv {
      if (local.socket == "passing") { return (pass); }
      set req.http.X-Way = local.socket;
    }
    sub vcl_hash {
      hash_data(req.http.X-Way);
    }
    sub vcl_backend_response {
      if (bereq.http.X-Way == "renewing") {
        set beresp.ttl = 0.1s;
        set beresp.grace = 0s;
        set beresp.keep = 1h;
      }
    }
    sub vcl_deliver {
      if (obj.hits > 0) { set resp.http.X-Cache = "HIT"; } else { set resp.http.X-Cache = "MISS"; }
    }`
  const { stop } = await startProgram({
    name: 'varnishd',
    port: caching,
    async args(folder) {
      await writeFile(join(folder, 'default.vcl'), configuration)
      const sockets = Object.entries({ passing, caching, renewing })
      return [
        ...['-F', '-n', join(folder, 'work'), '-T', 'none', '-j', 'none'],
        ...sockets.flatMap(([way, port]) => ['-a', `${way}=127.0.0.1:${port}`]),
        ...['-f', join(folder, 'default.vcl'), '-s', 'malloc,64m'],
      ]
    },
  })
  const at = (port: number) => ({ url: `http://127.0.0.1:${port}` })
  return { passing: at(passing), caching: at(caching), renewing: at(renewing), stop }
}
