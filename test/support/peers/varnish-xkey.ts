import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startProgram } from './program.ts'

/** Starts Varnish in front of a service, as docs/how-to/cdn.md configures it: PURGE requests purge by tag. Its `X-Cache` header is MISS or HIT. */
export async function startVarnishWithTags(
  origin: { url: string },
  { configuration, port }: { configuration: string; port: number },
): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port: originPort } = new URL(origin.url)
  const own = configuration
    .replace('"127.0.0.1"; .port = "3000"', `"${hostname}"; .port = "${originPort}"`)
    .replace(
      'sub vcl_deliver {',
      'sub vcl_deliver {\n  if (obj.hits > 0) { set resp.http.X-Cache = "HIT"; } else { set resp.http.X-Cache = "MISS"; }',
    )
  const { stop } = await startProgram({
    name: 'varnishd',
    port,
    async args(folder) {
      await writeFile(join(folder, 'default.vcl'), own)
      return [
        ...['-F', '-n', join(folder, 'work'), '-T', 'none', '-j', 'none'],
        ...['-a', `127.0.0.1:${port}`, '-f', join(folder, 'default.vcl'), '-s', 'malloc,64m'],
      ]
    },
  })
  return { url: `http://127.0.0.1:${port}`, stop }
}
