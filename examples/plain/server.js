// A page with <sluice-uploader>, and the endpoint that creates its links
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createClient } from 'sluice/client'

const sluice = createClient({
  baseUrl: process.env.SLUICE_URL ?? 'http://localhost:3000',
  secret: process.env.SLUICE_SECRET,
})
const files = {
  '/': ['text/html', new URL('index.html', import.meta.url)],
  '/uploader.js': ['text/javascript', new URL(import.meta.resolve('sluice/uploader.min.js'))],
}

/** Creates a link for one file. Check here that the user is signed in and may upload, and that the folder is acceptable. */
function createLink({ folder = '' }) {
  return sluice.links.create({
    folder: ['uploads', folder].filter(Boolean).join('/'),
    expiresIn: 3600,
    maxBytes: 100_000_000,
    types: ['image/*', 'video/*', 'application/pdf'],
  })
}

const server = createServer(async (req, res) => {
  if (req.method === 'POST' && req.url === '/upload-link') {
    try {
      const link = await createLink(await json(req))
      return res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(link))
    } catch (error) {
      console.error(error)
      return res
        .writeHead(error.status || 500, { 'Content-Type': 'application/json' })
        .end(JSON.stringify(error.problem ?? {}))
    }
  }
  const [type, file] = files[req.url] ?? []
  if (!file) return res.writeHead(404).end()
  res.writeHead(200, { 'Content-Type': type }).end(await readFile(fileURLToPath(file)))
})
server.listen(process.env.PORT ?? 8080, '127.0.0.1', () => {
  console.log(`http://localhost:${server.address().port}`)
})
