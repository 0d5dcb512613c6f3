import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { EMBEDDED } from '../../support/backend.ts'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { command } from '../../support/command.ts'
import { eventually, LONG_MS } from '../../support/eventually.ts'
import { longFilm } from '../../support/media/videos.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { crashPoints } from '../../support/servers/crash-points.ts'
import { startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'
import { filesInBucket } from '../../support/stored/state.ts'

describe('a process that is killed while it creates a stream', function () {
  this.timeout(180_000)
  const start = stoppedAtTheEnd(startService)
  let bytes: Buffer
  before(async () => {
    // Five frames a second: thirty seconds of film for a third of the CPU time.
    bytes = await longFilm({ rate: 5 })
  })
  const crash = crashPoints(EMBEDDED)

  const bundle = async (dataDir: string) =>
    (await filesInBucket(dataDir)).flatMap((file) => /_hls\/(.*)$/.exec(file)?.[1] ?? [])
  const marksOf = (names: readonly string[]) =>
    new Set(names.flatMap((name) => /^([0-9a-f]{8})-/.exec(name)?.[1] ?? []))

  const steps = ['after bucket.put part', 'after bucket.put provisional']
  for (const step of sized(steps.slice(1), steps)) {
    crash(`${step}: the next start creates it, and leaves no part of the killed run`, {
      step,
      prepare: async () => ({ path: '' }),
      async work(server, upload) {
        const { src } = await uploadOne(server, { name: 'film.mp4', bytes })
        upload.path = new URL(src).pathname
        await exchange(server, `${upload.path}?hls`)
      },
      async test(dataDir, { path }) {
        const left = await bundle(dataDir)
        expect(left).to.have.length.above(0)
        expect(left).not.to.include('master.m3u8')
        const [killed] = marksOf(left)

        const service = await start({ dataDir })
        let address = ''
        await eventually(
          async () => {
            const { status, headers } = await exchange(service, `${path}?hls`)
            // The encoders need the CPU time of the requests.
            if (headers['cache-control'] === 'no-store') await pause(1000)
            expect(`${status} ${headers['cache-control']}`).to.equal('302 public, max-age=604800')
            address = String(headers.location)
          },
          { withinMs: LONG_MS },
        )
        const names = await bundle(dataDir)
        const marks = marksOf(names)
        expect(marks.size).to.equal(1)
        expect(marks).not.to.include(killed)
        const playlists = names.filter((name) => /-.*\.m3u8$/.test(name))
        expect(playlists).to.have.length(3)
        for (const name of playlists) {
          const { body } = await exchange(service, address.replace('master.m3u8', name))
          expect(body.toString()).to.match(/#EXT-X-ENDLIST\n$/)
          const listed = [...body.toString().matchAll(/URI="([^"]+)"|^([^#\n]+)$/gm)].map(
            ([, a, b]) => a ?? b,
          )
          expect(names).to.include.members(listed)
        }
        // Those of three renditions, eight segments each, and what leads to them.
        expect(names.filter((name) => name !== 'live.m3u8')).to.have.length(1 + 3 * (1 + 1 + 8))
        expect((await command(service, 'check')).findings).to.deep.equal([])
        expect(await readdir(join(dataDir, 'media'))).to.deep.equal([])
        expect(await ffmpegsIn(dataDir)).to.deep.equal([])
      },
    })
  }
})

/** Processes of ffmpeg that write into a folder. */
async function ffmpegsIn(folder: string): Promise<string[]> {
  const lines = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (/^ffmpeg/.test(line) && line.includes(folder)) lines.push(line)
  }
  return lines
}
