import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { importSource } from '../ready/sources.js'
import { drawScene, SCENES } from './scenes.js'

const execute = promisify(execFile)
const DAY_MS = 86_400_000

/** Tags of the generated pictures, in their order. The last four are also in folders. */
const TAGS = [
  ['landscape', 'hero'],
  ['landscape'],
  ['landscape'],
  ['city', 'hero'],
  ['winter'],
  ['night'],
  ['landscape', 'summer'],
  ['city'],
  ['landscape'],
  ['landscape'],
  ['winter'],
  ['city', 'night'],
]
const FOLDERS = ['campaigns/spring', 'campaigns/spring', 'products', 'products']

/** Counters of 90 days, which grow and have quieter weekends. Write them before the service opens the folder. */
export async function writeUsage(dataDir, clients) {
  const { embeddedUsage } = await importSource('adapters/usage/embedded.ts')
  const store = await embeddedUsage(join(dataDir, 'usage'))
  for (const [index, clientId] of clients.entries())
    await store.add(
      Array.from({ length: 90 }, (_, ago) => {
        const at = new Date(Date.now() - ago * DAY_MS)
        const week = [0, 6].includes(at.getUTCDay()) ? 0.6 : 1
        const wave = 1 + Math.sin(ago / 3.1 + index) / 9 + Math.cos(ago * 1.7 + index * 2) / 14
        const deliveries = Math.round(((14_000 - ago * 85) * week * wave) / (index + 1))
        const counts = {
          deliveries,
          deliveredBytes: deliveries * 61_000,
          transformations: Math.round(deliveries * 0.11),
          cacheHits: Math.round(deliveries * 0.86),
          uploads: Math.round(deliveries / 240),
          uploadedBytes: Math.round(deliveries / 240) * 2_400_000,
          errors: Math.round(deliveries / 700),
        }
        return { clientId, day: at.toISOString().slice(0, 10), counts }
      }),
    )
  await store.close()
}

/** The files of the first client: pictures, a video, audio, a PDF, a text, and some in the trash. @returns the records by name */
export async function uploadFiles(sluice, { pdf }) {
  const files = {}
  const upload = async (bytes, name, options = {}) => {
    files[name] = await sluice.files.upload(new Blob([bytes]), { name, ...options })
  }
  const [deleted, ...scenes] = await Promise.all(
    [{ light: 'dusk', front: 'city', seed: 77 }, ...SCENES].map(drawScene),
  )
  for (const name of ['draft-1.jpg', 'draft-2.jpg']) await upload(deleted, name)
  await sluice.files.delete(files['draft-1.jpg'])
  await sluice.files.delete(files['draft-2.jpg'])
  await upload(pdf, 'price-list.pdf', { tags: ['print'] })
  await upload(`# Sluice\n\nA text, shown as it is.\n`, 'read-me.md')
  for (const [name, bytes] of await media(scenes[6])) await upload(bytes, name)
  for (const [i, folder] of FOLDERS.entries())
    await upload(scenes[8 + i], `${SCENES[8 + i].name}.jpg`, { folder })
  for (const [i, { name }] of SCENES.entries()) await upload(scenes[i], `${name}.jpg`, { tags: TAGS[i] })
  await sluice.aliases.set('home/hero.jpg', files['fjord-at-dawn.jpg'])
  return files
}

/** A pan over a picture, and a chord, by ffmpeg. */
async function media(picture) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-screenshots-'))
  const path = (name) => join(folder, name)
  try {
    await writeFile(path('picture.jpg'), picture)
    const pan = "scale=1920:-2,zoompan=z=1.3:x='on*3':y=120:d=150:s=1280x720:fps=25"
    await execute('ffmpeg', [
      ...['-v', 'error', '-i', path('picture.jpg'), '-vf', pan, '-pix_fmt', 'yuv420p'],
      path('coast-flight.mp4'),
    ])
    const chord =
      'aevalsrc=(sin(2*PI*220*t)+sin(2*PI*277*t)+sin(2*PI*330*t))/4*abs(sin(t*1.3))*(0.5+abs(sin(t*5))/2):d=24'
    await execute('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', chord, path('podcast-intro.mp3')])
    return ['coast-flight.mp4', 'podcast-intro.mp3'].map((name) => [name, readFileSync(path(name))])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Derivatives and jobs. Waits for the thumbnail of the video that the page Files shows. */
export async function requestDerivatives(files) {
  const picture = files['fjord-at-dawn.jpg'].src
  for (const query of ['w=640&f=webp', 'w=320&h=320&f=avif', 'w=1200', 'grayscale=1&w=400'])
    await fetch(`${picture}?${query}`)
  const video = files['coast-flight.mp4'].src
  for (const query of ['w=640', 'w=320&format=webm']) await fetch(`${video}?${query}`)
  for (let attempt = 0; attempt < 120; attempt += 1) {
    // 423: the job is not done yet.
    const { status } = await fetch(`${video}?w=320&thumbnail=1`)
    if (status !== 423) return
    await sleep(500)
  }
}
