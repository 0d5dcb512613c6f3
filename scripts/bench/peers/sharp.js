import sharp from 'sharp'
import { listen } from './listen.js'

// GET /<width> returns the image argv[2] in that width, in the format argv[3]. The settings are those of src/engines/image/sharp.ts.
sharp.concurrency(1)
sharp.cache(false)
const [file, format] = process.argv.slice(2)
const QUALITIES = { jpeg: 78, webp: 75, avif: 55 }

listen(async (req, res) => {
  const width = Number(req.url.slice(1))
  const bytes = await sharp(file)
    .autoOrient()
    .resize({ width })
    .toFormat(format, { quality: QUALITIES[format] })
    .toBuffer()
  res.writeHead(200, { 'Content-Type': `image/${format}`, 'Content-Length': bytes.length }).end(bytes)
})
