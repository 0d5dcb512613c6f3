import { randomBytes } from 'node:crypto'
import { pipeline, type Readable, Transform } from 'node:stream'
import { expect } from 'chai'
import sharp from 'sharp'
import { EMBEDDED } from '../../support/backend.ts'
import { onOneOrTwoBackends } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { type Downloader, downloader } from '../../support/peers/downloader.ts'
import { answersTo } from '../../support/peers/responses.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import type { Service } from '../../support/service.ts'
import { everyNth, itLong, sized } from '../../support/sized.ts'
import { wrapBuckets } from '../../support/storage.ts'
import { noise } from '../../support/stored/noise.ts'

/** Something to download, and what it must become. */
interface Target {
  url: string
  bytes: Buffer
}

interface Manager {
  /** Downloads into `file`, and resumes what is there. */
  args: readonly string[]
  /** What the answers are to a request for all, for the rest, and for the rest of a file that is all there. */
  statuses: { all: RegExp; rest: RegExp; nothing: RegExp }
}

const MANAGERS: Record<string, Manager> = {
  curl: {
    args: ['-q', '-sS', '-C', '-', '-o', 'file'],
    statuses: { all: /^200$/, rest: /^206$/, nothing: /^416$/ },
  },
  wget: {
    args: ['-nv', '-c', '-O', 'file'],
    statuses: { all: /^200$/, rest: /^206$/, nothing: /^416$/ },
  },
  // Over four connections: the first asks for all, and is ended when its part has come.
  aria2c: {
    args: [
      ...['--no-conf', '-x4', '-s4', '-k1M', '-c', '-o', 'file', '--file-allocation=none'],
      // Else one of them has brought it all before the others have begun.
      ...['--max-overall-download-limit=10M', '--disk-cache=0'],
    ],
    statuses: { all: /^200( 206){3,}$/, rest: /^200( 206){3,}$/, nothing: /^200$/ },
  },
}

onOneOrTwoBackends('download managers', (start, backend) => {
  let service: Service
  let grain: Buffer
  const original: Target = { url: '', bytes: noise(6_000_000) }
  const derivative: Target = { url: '', bytes: Buffer.alloc(0) }
  let stalled = false
  before(async () => {
    service = await start({
      wrapStorage: wrapBuckets((bucket) => ({
        find: async (key, known) => {
          const asset = await bucket.find(key, known)
          if (!asset) return undefined
          // When it is opened: what was found may be opened again later.
          const open: typeof asset.open = async (options) => {
            const bytes = await asset.open(options)
            return stalled ? stalling(bytes) : bytes
          }
          return { ...asset, open }
        },
      })),
    })
    const raw = { width: 1300, height: 1300, channels: 3 as const }
    grain = await sharp(randomBytes(1300 * 1300 * 3), { raw })
      .png({ compressionLevel: 0 })
      .toBuffer()
    original.url = (await uploadOne(service, { name: 'a.bin', bytes: original.bytes })).src
    derivative.url = `${(await uploadOne(service, { name: 'a.png', bytes: grain })).src}?w=1290`
    derivative.bytes = (await exchange(service, derivative.url)).body
    // Enough for four connections with a megabyte each.
    expect(derivative.bytes.length).to.be.above(4 * 1024 * 1024)
  })

  const targets: Record<string, () => Promise<Target>> = {
    'an original': async () => original,
    'a stored derivative': async () => derivative,
    'a derivative that is not rendered yet': async () => {
      const { src } = await uploadOne(service, { name: 'a.png', bytes: grain })
      return { url: `${src}?w=1290`, bytes: derivative.bytes }
    },
  }

  // wget sends what curl does.
  for (const [program, { args, statuses }] of everyNth(2, Object.entries(MANAGERS))) {
    describe(program, () => {
      let manager: Downloader
      beforeEach(async () => {
        manager = await downloader(program)
      })
      afterEach(() => manager.remove())

      /** Runs it to its end, after which the file must be there, by requests that were answered so. */
      async function completes(target: Target, expected: RegExp): Promise<void> {
        const answers = answersTo(service, target.url)
        const { code, said } = await manager.run([...args, target.url])
        expect(code, said).to.equal(0)
        expect((await manager.bytes()).equals(target.bytes), 'all bytes').to.equal(true)
        await eventually(() => expect(answers()).to.match(expected))
      }

      for (const [what, target] of Object.entries(targets)) {
        // Its bytes are sent from memory, not from the bucket.
        if (what === 'a derivative that is not rendered yet' && backend !== EMBEDDED) continue
        // It is sent as an original is.
        if (what === 'a stored derivative' && program !== sized('curl', program)) continue
        // aria2c sends the requests of the others, and several at once.
        if (what === 'a derivative that is not rendered yet' && program !== sized('aria2c', program)) continue

        it(`downloads ${what}`, async () => completes(await target(), statuses.all))

        const itResumes = what === 'a derivative that is not rendered yet' ? itLong : it
        itResumes(`resumes ${what} at half`, async () => {
          const it = await target()
          await manager.begin(it.bytes.subarray(0, 1_000_000))
          await completes(it, statuses.rest)
        })
      }

      it('resumes after an interruption', async () => {
        const answers = answersTo(service, original.url)
        stalled = true
        await manager.interrupt([...args, original.url])
        stalled = false
        await eventually(() => expect(answers()).not.to.equal(''))
        await completes(original, statuses.rest)
      })

      it('leaves a complete file unchanged', async () => {
        await manager.begin(original.bytes)
        await completes(original, statuses.nothing)
      })
    })
  }

  describe('clients that check whether a file has changed', () => {
    const again: Record<string, { program: string; first: readonly string[]; later: readonly string[] }> = {
      'curl by its date': {
        program: 'curl',
        first: ['-q', '-sS', '-R', '-o', 'file'],
        later: ['-q', '-sS', '-z', 'file', '-o', 'file'],
      },
      'curl by its tag': {
        program: 'curl',
        first: ['-q', '-sS', '--etag-save', 'tag', '-o', 'file'],
        later: ['-q', '-sS', '--etag-compare', 'tag', '-o', 'file'],
      },
      'wget by its date': { program: 'wget', first: ['-nv', '-N'], later: ['-nv', '-N'] },
    }
    for (const [how, { program, first, later }] of Object.entries(again)) {
      itLong(`do not download it twice: ${how}`, async () => {
        const manager = await downloader(program)
        try {
          for (const target of [original, derivative]) {
            for (const [args, status] of [
              [first, '200'],
              [later, '304'],
            ] as const) {
              const answers = answersTo(service, target.url)
              const { code, said } = await manager.run([...args, target.url])
              expect(code, said).to.equal(0)
              await eventually(() => expect(answers()).to.equal(status))
            }
          }
        } finally {
          await manager.remove()
        }
      })
    }
  })

  it('reads several ranges with Python', async () => {
    const python = await downloader('python3')
    try {
      for (const { url, bytes } of [original, derivative]) {
        const { code, said } = await python.run(['-c', PYTHON, url, 'bytes=0-9,-10,1000-2000999'])
        expect(code, said).to.equal(0)
        const size = bytes.length
        expect(JSON.parse(said)).to.deep.equal([
          [`bytes 0-9/${size}`, bytes.subarray(0, 10).toString('hex')],
          [`bytes ${size - 10}-${size - 1}/${size}`, bytes.subarray(-10).toString('hex')],
          [`bytes 1000-${2000999}/${size}`, bytes.subarray(1000, 2_001_000).toString('hex')],
        ])
      }
    } finally {
      await python.remove()
    }
  })
})

/** Gives a little, and then nothing more. */
function stalling(bytes: Readable): Readable {
  let left = 300_000
  const passing = new Transform({
    transform(chunk: Buffer, _encoding, passOn) {
      this.push(chunk.subarray(0, left))
      left -= chunk.length
      if (left > 0) passOn()
    },
  })
  pipeline(bytes, passing, () => {})
  return passing
}

// Its reader of e-mail, from which multipart comes.
const PYTHON = `
import sys, json, urllib.request, email, email.policy
request = urllib.request.Request(sys.argv[1], headers={'Range': sys.argv[2]})
with urllib.request.urlopen(request) as answer:
    assert answer.status == 206
    head = b'Content-Type: ' + answer.headers['Content-Type'].encode() + b'\\r\\n\\r\\n'
    document = email.message_from_bytes(head + answer.read(), policy=email.policy.HTTP)
parts = document.get_payload()
print(json.dumps([[part['Content-Range'], part.get_payload(decode=True).hex()] for part in parts]))
`
