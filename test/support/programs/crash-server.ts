import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { loadConfig } from '../../../config/load.ts'
import { createApp, type Storage } from '../../../src/app.ts'
import { classifyKey, type ObjectKey } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'
import { keptLog, PROJECT } from '../service.ts'

// The service as it is, which kills itself with SIGKILL at one step of its storage: the environment's CRASH_AT,
// "before index.beginUpload", "after bucket.put derivative", "within bucket.put original".
const [moment = '', ...words] = (process.env.CRASH_AT ?? '').split(' ')
const step = words.join(' ')

async function dying<T>(name: string, work: () => Promise<T>): Promise<T> {
  if (moment === 'before' && name === step) await die()
  const outcome = await work()
  if (moment === 'after' && name === step) await die()
  return outcome
}

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}

function kindOf(key: ObjectKey | undefined): string {
  if (key?.startsWith('.sluice/clients/')) return 'client'
  if (key?.startsWith('.sluice/remote/')) return 'note'
  if (key?.startsWith('.sluice/tus/')) return key.includes('/pieces/') ? 'piece' : 'resumable'
  if (key?.startsWith('.sluice/')) return 'record'
  if (key?.endsWith('/live.m3u8')) return 'provisional'
  return (key && classifyKey(key)?.kind) ?? 'original'
}

async function* dyingHalfway(bytes: Readable) {
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    yield chunk.subarray(0, chunk.length / 2)
    // The first half has to reach the disk.
    await pause(50)
    await die()
  }
}

function wrapBucket(bucket: Bucket): Bucket {
  return {
    ...bucket,
    put(key, bytes, options) {
      const name = `bucket.put ${kindOf(key)}`
      const source = moment === 'within' && name === step ? Readable.from(dyingHalfway(bytes)) : bytes
      return dying(name, () => bucket.put(key, source, options))
    },
    delete: (keys) => dying(`bucket.delete ${kindOf(keys[0])}`, () => bucket.delete(keys)),
  }
}

function wrapStorage({ buckets, index }: Storage): Storage {
  const watched = new Proxy(index, {
    get(target, name: keyof typeof index) {
      const method = target[name] as (...args: unknown[]) => Promise<unknown>
      if (name === 'overdue' || name === 'list' || name === 'close') return method
      return (...args: unknown[]) => dying(`index.${name}`, () => method(...args))
    },
  })
  return { buckets: { ...buckets, of: (client) => wrapBucket(buckets.of(client)) }, index: watched }
}

let handle: Parameters<typeof createServer>[1]
const server = createServer((req, res) => handle?.(req, res))
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address() as AddressInfo
  const app = await createApp({
    config: loadConfig(),
    root: PROJECT,
    baseUrl: `http://localhost:${port}`,
    log: keptLog(),
    wrapStorage,
  })
  handle = app.handle
  process.stdout.write(`Sluice is ready at http://localhost:${port}\n`)
})
