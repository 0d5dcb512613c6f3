import { basename, join } from 'node:path'
import sharp from 'sharp'
import { listen } from './listen.js'

// GET /<name> returns the image of this name in the folder argv[2], in the format argv[3] and the width argv[4]. The settings are
// those of src/engines/image/sharp.ts and plugins/image/encoders.mts.
sharp.concurrency(1)
sharp.cache(false)
const [folder, format, width] = process.argv.slice(2)
const OPTIONS = { jpeg: { quantisationTable: 3 }, webp: { effort: 2 }, avif: { effort: 2 } }

listen(async (req, res) => {
  const bytes = await sharp(join(folder, basename(req.url)))
    .autoOrient()
    .resize({ width: Number(width) })
    .toFormat(format, { quality: 75, ...OPTIONS[format] })
    .toBuffer()
  res.writeHead(200, { 'Content-Type': `image/${format}`, 'Content-Length': bytes.length }).end(bytes)
})
