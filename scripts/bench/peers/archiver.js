import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ZipArchive } from 'archiver'
import { listen } from './listen.js'

// GET / returns an archive of all files in argv, stored without compression, as Sluice stores images.
const files = process.argv.slice(2)

listen(async (_req, res) => {
  const zip = new ZipArchive()
  for (const [i, file] of files.entries()) zip.file(file, { name: `${i}-${basename(file)}`, store: true })
  res.setHeader('Content-Type', 'application/zip')
  await Promise.all([pipeline(zip, res), zip.finalize()])
})
