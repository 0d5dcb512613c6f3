import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import busboy from 'busboy'
import { listen } from './listen.js'

// POST / writes the files of a form to the folder argv[2]. With "safe" as argv[3] it also hashes them, and answers only
// when they are on the disk.
const [folder, how] = process.argv.slice(2)
const safe = how === 'safe'
let count = 0

listen(async (req, res) => {
  const written = []
  const form = busboy({ headers: req.headers })
  form.on('file', (_field, bytes) => written.push(store(bytes)))
  await pipeline(req, form)
  res.end(JSON.stringify(await Promise.all(written)))
})

async function store(bytes) {
  const file = createWriteStream(join(folder, String(++count)), { flush: safe })
  const hash = safe ? createHash('sha256') : undefined
  if (hash) bytes.on('data', (chunk) => hash.update(chunk))
  await pipeline(bytes, file)
  return { size: file.bytesWritten, sha256: hash?.digest('hex') }
}
