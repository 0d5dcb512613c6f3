import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../servers/free-port.ts'
import type { Service } from '../service.ts'
import { startNginxProgram } from './nginx-program.ts'
import type { Program } from './program.ts'

const PAGE = join(import.meta.dirname, '..', '..', '..', 'docs', 'how-to', 'nginx.md')

/**
 * Starts nginx as docs/how-to/nginx.md configures it, with the lines that let it send large files in place of the last location, and
 * without TLS. Responses whose bytes it reads itself have `X-Sent-By: nginx`.
 */
export async function startSendingNginx({
  url,
  dataDir,
}: Pick<Service, 'url' | 'dataDir'>): Promise<Program & { url: string }> {
  const blocks = [...(await readFile(PAGE, 'utf8')).matchAll(/```nginx\n([\s\S]*?)```/g)]
  const [whole = '', ...others] = blocks.map(([, block = '']) => block)
  const sending = others.find((block) => block.includes('X-Accel-Redirect')) ?? ''
  const [port, redirects] = await Promise.all([freePort(), freePort()])
  const http = `${whole.slice(0, whole.lastIndexOf('  location '))}${sending}}`
    .replace('/var/cache/nginx/sluice', 'cache')
    .replace('127.0.0.1:3000', new URL(url).host)
    .replace('listen 80;', `listen 127.0.0.1:${redirects};`)
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
    .replaceAll(/ssl_certificate.*;/g, '')
    .replace('/var/lib/sluice', dataDir)
    .replace('internal; ', 'internal; add_header X-Sent-By nginx;')
  return { ...(await startNginxProgram({ http, port })), url: `http://127.0.0.1:${port}` }
}
