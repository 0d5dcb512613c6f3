import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CERTIFICATE } from '../servers/certificate.ts'
import { freePort } from '../servers/free-port.ts'
import { PROJECT } from '../service.ts'
import { startNginxProgram } from './nginx-program.ts'
import type { Program } from './program.ts'

/** nginx with the configuration of docs/how-to/nginx.md. */
export interface GuideNginx extends Pick<Program, 'stop'> {
  /** The port that redirects to HTTPS, and the port of HTTPS. */
  ports: { redirect: number; secure: number }
  /** The same server without TLS. */
  url: string
}

/**
 * Starts nginx as docs/how-to/nginx.md configures it. Its answers state MISS or HIT in `X-Cache`.
 *
 * @param servers hosts with ports. With more than one, the upstream is the one that the page has for several processes
 */
export async function startGuideNginx(servers: readonly string[]): Promise<GuideNginx> {
  const page = await readFile(join(PROJECT, 'docs', 'how-to', 'nginx.md'), 'utf8')
  const [one = '', several = ''] = [...page.matchAll(/```nginx\n([\s\S]*?)```/g)].map(([, block]) => block)
  const options = /^ *server \S+(.*);$/m.exec(servers.length > 1 ? several : one)?.[1] ?? ''
  const [redirect, secure, plain] = await Promise.all([freePort(), freePort(), freePort()])
  const listen = `listen 127.0.0.1:${plain}; listen 127.0.0.1:${secure} ssl http2;`
  const http = one
    .replace('/var/cache/nginx/sluice', 'cache')
    .replace('server 127.0.0.1:3000;', servers.map((server) => `server ${server}${options};`).join('\n'))
    .replace('listen 80;', `listen 127.0.0.1:${redirect};`)
    .replace('listen 443 ssl http2;', `${listen} add_header X-Cache $upstream_cache_status always;`)
    .replaceAll('/etc/letsencrypt/live/files.example.com/', '')
  const files = { 'fullchain.pem': CERTIFICATE.cert, 'privkey.pem': CERTIFICATE.key }
  const { stop } = await startNginxProgram({ http, port: secure, files })
  return { ports: { redirect, secure }, url: `http://127.0.0.1:${plain}`, stop }
}
