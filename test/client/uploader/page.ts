import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { type BuildOptions, build } from 'esbuild'
import type { QueuedLinkFile } from '../../../client/uploader/queue/options.ts'
import { PROJECT } from '../../support/service.ts'

/** A site of its own origin, with pages that upload. */
export interface Site {
  url: string
  /** The files for which pages have requested links. */
  links: QueuedLinkFile[]
  /** Creates the links. Tests replace it. */
  link: (file: QueuedLinkFile) => Promise<unknown>
  /** The HTML of a path. */
  pages: Map<string, string>
  /** The content security policy of its pages. */
  policy?: string
  close(): void
}

/** Bundles a script as a page loads it. */
export async function bundled(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    ...options,
    bundle: true,
    write: false,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  return outputFiles?.[0]?.text ?? ''
}

/** The source of `<sluice-uploader>`. */
export const UPLOADER = join(PROJECT, 'client', 'uploader.ts')

/** Serves `script` at `/script.js`, and the pages that tests add. */
export async function startSite(script: string): Promise<Site> {
  const site: Site = {
    ...{ url: '', links: [], pages: new Map() },
    link: () => Promise.reject(new Error('the test has no links')),
    close: () => server.close(),
  }
  const server = createServer(async (req, res) => {
    if (req.method === 'POST') {
      const file = (await json(req)) as QueuedLinkFile
      site.links.push(file)
      const link = await site.link(file).catch((error) => ({ status: 403, detail: String(error) }))
      const { status = 200 } = link as { status?: number }
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(link))
      return
    }
    const path = new URL(req.url ?? '/', 'http://site').pathname
    if (path === '/script.js') return res.setHeader('Content-Type', 'text/javascript').end(script)
    const page = site.pages.get(path)
    const head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Upload</title>'
    if (site.policy) res.setHeader('Content-Security-Policy', site.policy)
    res.writeHead(page === undefined ? 404 : 200, { 'Content-Type': 'text/html' })
    res.end(`${head}<script type="module" src="/script.js"></script><main>${page ?? ''}</main>`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return site
}
