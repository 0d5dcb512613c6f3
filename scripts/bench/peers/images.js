import sharp from 'sharp'
import { OPERATIONS } from '../images/operations.js'
import { listen } from './listen.js'

// GET /<operation>/<width> transforms the image argv[2], with the logo argv[3] where the operation needs one. The settings
// are those of src/engines/image/sharp.ts and plugins/image/output/encoders.mts.
sharp.concurrency(1)
sharp.cache(false)
const [file, logo] = process.argv.slice(2)
const jpeg = (image) => image.jpeg({ quality: 78, quantisationTable: 3 })

listen(async (req, res) => {
  const [, name, width] = req.url.split('/')
  const { edit, encode = jpeg } = OPERATIONS.find((operation) => operation.name === name)
  const image = sharp(file).autoOrient()
  await edit(image, Number(width), logo)
  const { data, info } = await encode(image).toBuffer({ resolveWithObject: true })
  res.writeHead(200, { 'Content-Type': `image/${info.format}`, 'Content-Length': data.length }).end(data)
})
