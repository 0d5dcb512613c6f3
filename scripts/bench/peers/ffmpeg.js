import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { VIDEO_WORKS } from '../videos/works.js'
import { listen } from './listen.js'

// GET /<work>/<i> runs ffmpeg on the video argv[2] with the arguments of that work, as one would by hand.
const [file] = process.argv.slice(2)

listen(async (req, res) => {
  const [, name, i] = req.url.split('/')
  const { before, after, extension } = VIDEO_WORKS.find((work) => work.name === name)
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-ffmpeg-'))
  try {
    const target = join(folder, `target.${extension}`)
    const args = [...before(Number(i)), '-i', file, ...after(Number(i)), target]
    const child = spawn('ffmpeg', ['-nostdin', '-loglevel', 'error', ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`ffmpeg ended with ${code}`)
    res.writeHead(200, { 'Content-Length': (await stat(target)).size })
    await pipeline(createReadStream(target), res)
  } finally {
    await rm(folder, { recursive: true })
  }
})
