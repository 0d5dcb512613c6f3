import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { WireRecord } from './requests/client.ts'
import type { RunningServer } from './servers/process.ts'

export const MIB = 1024 * 1024

/** A large file, a GIF by its first bytes, so that an archive stores it as it is. Never whole in memory. */
export interface LargeFile {
  chunks: () => Iterable<Buffer>
  /** In hexadecimal, once it has been read. */
  digest: () => string
}

export function largeFile(mebibytes: number): LargeFile {
  const magic = Buffer.from('GIF89a')
  const block = randomBytes(MIB)
  magic.copy(block)
  const hash = createHash('sha256')
  let digest = ''
  return {
    *chunks() {
      for (let i = 0; i < mebibytes; i += 1) {
        block.writeUInt32BE(i, magic.length)
        hash.update(block)
        yield Buffer.from(block)
      }
      digest = hash.digest('hex')
    },
    digest: () => digest,
  }
}

/** Uploads a large file, at the pace at which it is taken. */
export async function uploadLarge(
  { url, tokens }: RunningServer,
  { chunks }: LargeFile,
): Promise<WireRecord> {
  const boundary = 'sluice-test'
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n`
  function* body() {
    yield Buffer.from(head)
    yield* chunks()
    yield Buffer.from(`\r\n--${boundary}--\r\n`)
  }
  const req = request(`${url}/v1/upload`, {
    method: 'POST',
    headers: {
      Authorization: tokens.secretClientToken,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
    },
  })
  const answered = new Promise<string>((resolve, reject) => {
    req.once('error', reject).once('response', async (res) => {
      let text = ''
      for await (const chunk of res) text += chunk
      resolve(text)
    })
  })
  await pipeline(Readable.from(body(), { objectMode: false }), req)
  const [record] = JSON.parse(await answered) as WireRecord[]
  if (!record) throw new Error('the upload answered no record')
  return record
}

/** The most that the process has had in memory at any time: proc(5), VmHWM. */
export const peakBytes = (server: RunningServer): Promise<number> => memoryOf(server, 'VmHWM')

/** What the process has in memory now: proc(5), VmRSS. */
export const residentBytes = (server: RunningServer): Promise<number> => memoryOf(server, 'VmRSS')

/** How many files and sockets the process has open: proc(5). */
export async function openFiles({ pid }: RunningServer): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

async function memoryOf({ pid }: RunningServer, field: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024
}

/** The heap that this process uses after a collection of garbage, in bytes. */
export function usedHeap(): number {
  collect()
  return process.memoryUsage().heapUsed
}

let gc: (() => void) | undefined

function collect(): void {
  if (!gc) {
    setFlagsFromString('--expose-gc')
    gc = runInNewContext('gc') as () => void
  }
  gc()
}
