import { basename, join } from 'node:path'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import sharp from 'sharp'
import { listen } from './listen.js'

// GET /<name> returns the image of this name in the format argv[2] and the width argv[3]: from the folder argv[4], or without it from the
// S3 bucket of the environment. The settings are those of src/engines/image/sharp.ts and plugins/image/output/encoders.mts.
sharp.concurrency(1)
sharp.cache(false)
const [format, width, folder] = process.argv.slice(2)
const OPTIONS = {
  jpeg: { quality: 78, quantisationTable: 3 },
  webp: { quality: 75, effort: 2 },
  avif: { quality: 55, effort: 2 },
}

const { S3_BUCKET: Bucket } = process.env
const s3 = Bucket && new S3Client({ forcePathStyle: true })

async function inputOf(name) {
  if (folder !== undefined) return join(folder, name)
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: name }))
  return Body.transformToByteArray()
}

listen(async (req, res) => {
  const bytes = await sharp(await inputOf(basename(req.url)))
    .autoOrient()
    .resize({ width: Number(width) })
    .toFormat(format, OPTIONS[format])
    .toBuffer()
  res.writeHead(200, { 'Content-Type': `image/${format}`, 'Content-Length': bytes.length }).end(bytes)
})
