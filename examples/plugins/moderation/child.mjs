import sharp from 'sharp'

// The child process: it loads the model, and classifies one image at a time. Its parent kills it when it takes too long.
const [model, maxMemoryBytes] = process.argv.slice(2)
const { load } = await import(model)
const classify = await load()

process.on('disconnect', () => process.exit())
process.on('message', async ({ bytes, side }) => {
  try {
    const pixels = await sharp(bytes).flatten({ background: '#fff' }).toColourspace('srgb').raw().toBuffer()
    process.send({ classes: await classify({ pixels, side }) })
  } catch (error) {
    process.send({ error: error.message })
  }
  // The next image starts another process.
  if (process.memoryUsage.rss() > Number(maxMemoryBytes)) process.exit(1)
})
process.send({ ready: true })
