import { createServer } from 'node:http'

/** Serves on a free port, and prints the same message as Sluice. A failing handler closes the connection. */
export function listen(handle) {
  const server = createServer(async (req, res) => {
    try {
      await handle(req, res)
    } catch (error) {
      console.error(error)
      res.destroy()
    }
  })
  server.listen(0, '127.0.0.1', () => console.log(`ready at http://localhost:${server.address().port}`))
}
