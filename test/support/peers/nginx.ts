import { freePort } from '../servers/free-port.ts'
import type { Cache } from './cache.ts'
import { startNginxProgram } from './nginx-program.ts'

// The ways in which nginx is put in front of a service, each by the lines that its manual gives for it.
const WAYS = {
  /** Keeps nothing: ranges and conditions reach the service. */
  passing: 'proxy_cache off;',
  /** Keeps whole files, and cuts parts out of them itself. */
  caching: '',
  /** Caches files in slices, which it requests by range. */
  slicing: `
    slice 256k;
    proxy_cache_key $uri$is_args$args$slice_range;
    proxy_set_header Range $slice_range;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_http_version 1.1;`,
  /** Caches files for a second, ignoring `Cache-Control`, and then revalidates them. */
  renewing: `
    proxy_ignore_headers Cache-Control;
    proxy_cache_valid 200 1s;
    proxy_cache_revalidate on;`,
}

/** Starts nginx in front of a service. Its `X-Cache` header is MISS, HIT or REVALIDATED. */
export async function startNginx(origin: { url: string }): Promise<Cache & { slicing: { url: string } }> {
  const ports = Object.fromEntries(
    await Promise.all(Object.keys(WAYS).map(async (way) => [way, await freePort()] as const)),
  ) as Record<keyof typeof WAYS, number>
  const servers = Object.entries(WAYS).map(
    ([way, lines]) => `server {
      listen 127.0.0.1:${ports[way as keyof typeof WAYS]};
      location / { proxy_pass ${origin.url}; ${lines} }
    }`,
  )
  const http = `
      # By itself it takes 1 MB.
      client_max_body_size 0;
      proxy_cache_path cache keys_zone=files:1m;
      proxy_cache files;
      # Were it not for no-store, errors would be kept.
      proxy_cache_valid any 1h;
      add_header X-Cache $upstream_cache_status always;
      ${servers.join('\n')}`
  const { stop } = await startNginxProgram({ http, port: ports.passing })
  const at = (port: number) => ({ url: `http://127.0.0.1:${port}` })
  return {
    passing: at(ports.passing),
    caching: at(ports.caching),
    slicing: at(ports.slicing),
    renewing: at(ports.renewing),
    stop,
  }
}
