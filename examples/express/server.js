import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { createClient, verifyWebhook } from 'sluice/client'

const { SLUICE_URL = 'http://localhost:3000', SLUICE_SECRET, WEBHOOK_SECRET, PORT = 8080 } = process.env

const sluice = createClient({ baseUrl: SLUICE_URL, secret: SLUICE_SECRET })
const app = express()

// The page requests a link, and uploads to it. The secret stays here.
app.post('/upload-link', async (_req, res) => {
  // Check here that the user is signed in and may upload.
  res.json(
    await sluice.links.create({
      folder: 'photos',
      expiresIn: 600,
      maxBytes: 20_000_000,
      types: ['image/*'],
    }),
  )
})

app.get('/photos', async (_req, res) => {
  const { files } = await sluice.files.page({ prefix: 'photos', type: 'image', limit: 20 })
  res.json(files.map(({ src, originalName }) => ({ src, originalName })))
})

/** Responses of open pages, which receive events as they happen. */
const pages = new Set()
/** Ids of received events: a retry has the same id. A service with several processes needs a shared store. */
const seen = new Set()

app.post('/hooks', express.raw({ type: 'application/json', limit: '1mb' }), async (req, res) => {
  const event = await verifyWebhook(req, WEBHOOK_SECRET).catch(() => undefined)
  if (!event) return res.sendStatus(401)
  // Respond first, work afterwards.
  res.sendStatus(204)
  if (seen.has(event.id)) return
  seen.add(event.id)
  for (const page of pages)
    page.write(`data: ${JSON.stringify({ type: event.type, key: event.data.key })}\n\n`)
})

app.get('/events', (req, res) => {
  res.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' }).flushHeaders()
  pages.add(res)
  req.once('close', () => pages.delete(res))
})

// The library runs in browsers without a bundler.
app.use('/sluice', express.static(dirname(fileURLToPath(import.meta.resolve('sluice/client')))))
app.use(express.static(fileURLToPath(new URL('public', import.meta.url))))

// A SluiceError has the status and the text of the service.
app.use((error, _req, res, _next) => {
  res.status(error.status || 500).json({ code: error.code, detail: error.message })
})

const server = app.listen(PORT, () => console.log(`http://localhost:${server.address().port}`))
