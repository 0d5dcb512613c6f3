import { json } from 'node:stream/consumers'
import { defineConfig } from 'vite'
import { createLink } from './links.js'

/** The endpoint that creates links. In production, it is part of your server. */
const uploadLinks = {
  name: 'upload-links',
  configureServer({ middlewares }) {
    middlewares.use('/upload-link', async (req, res) => {
      try {
        res
          .setHeader('Content-Type', 'application/json')
          .end(JSON.stringify(await createLink(await json(req))))
      } catch (error) {
        console.error(error)
        res.writeHead(error.status || 500).end(JSON.stringify(error.problem ?? {}))
      }
    })
  },
}

export default defineConfig({
  plugins: [uploadLinks],
  // JSX without a plugin.
  oxc: { jsx: { runtime: 'automatic' } },
})
