import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../servers/free-port.ts'
import { startNginxProgram } from './nginx-program.ts'

const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'how-to', 'cdn.md')

/** Starts nginx with the server block of docs/how-to/cdn.md in front of a service. Its answers state MISS or HIT in `X-Cache`. */
export async function startDocumentedNginx(origin: {
  url: string
}): Promise<{ url: string; stop(): Promise<void> }> {
  const block = /```nginx\n([\s\S]*?)```/.exec(await readFile(PAGE, 'utf8'))?.[1] ?? ''
  const port = await freePort()
  const http = block
    .replace('/var/cache/nginx', 'cache')
    .replace('listen 80;', `listen 127.0.0.1:${port}; add_header X-Cache $upstream_cache_status always;`)
    .replaceAll('http://127.0.0.1:3000', origin.url)
  const { stop } = await startNginxProgram({ http, port })
  return { url: `http://127.0.0.1:${port}`, stop }
}
