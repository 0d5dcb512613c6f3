import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

// Every request returns the file argv[2] from memory: the least that node:http can do.
const bytes = readFileSync(process.argv[2])
const server = createServer((_req, res) => {
  res.writeHead(200, { 'Content-Type': 'image/webp', 'Content-Length': bytes.length }).end(bytes)
})
server.listen(0, '127.0.0.1', () => console.log(`ready at http://localhost:${server.address().port}`))
