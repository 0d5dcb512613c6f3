import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Storage } from '../../../src/app.ts'
import { classifyKey, type ObjectKey } from '../../../src/core/files/object-key.ts'
import type { Bucket } from '../../../src/core/ports/bucket.ts'

/**
 * A `wrapStorage` for a service that ends at one step of its storage. From then on, the storage answers nothing.
 *
 * @param at "before index.beginUpload", "after bucket.put derivative", "within bucket.put original"; an empty text for none
 * @param end called at the step, once
 */
export function endingAt(at: string, end: () => void): (storage: Storage) => Storage {
  const [moment = '', ...words] = at.split(' ')
  const step = words.join(' ')
  let hasEnded = false

  function stop(): Promise<never> {
    if (!hasEnded) end()
    hasEnded = true
    return new Promise(() => {})
  }

  async function until<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (hasEnded || (moment === 'before' && name === step)) await stop()
    const outcome = await work()
    if (hasEnded || (moment === 'after' && name === step)) await stop()
    return outcome
  }

  async function* untilHalfway(bytes: Readable) {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      yield chunk.subarray(0, chunk.length / 2)
      // The first half has to reach the disk.
      await pause(50)
      await stop()
    }
  }

  const wrapBucket = (bucket: Bucket): Bucket => ({
    ...bucket,
    put(key, bytes, options) {
      const name = `bucket.put ${kindOf(key)}`
      const source = moment === 'within' && name === step ? Readable.from(untilHalfway(bytes)) : bytes
      return until(name, () => bucket.put(key, source, options))
    },
    copy: (from, to, options) => until(`bucket.copy ${kindOf(to)}`, () => bucket.copy(from, to, options)),
    ...ofDirectUploads(bucket),
    delete: (keys) => until(`bucket.delete ${kindOf(keys[0])}`, () => bucket.delete(keys)),
  })

  /** Only S3 has them. */
  function ofDirectUploads({ joinParts, copyFromFirst }: Bucket): Partial<Bucket> {
    if (!joinParts || !copyFromFirst) return {}
    return {
      joinParts: (key, ...more) => until(`bucket.joinParts ${kindOf(key)}`, () => joinParts(key, ...more)),
      copyFromFirst: (from, to, options) =>
        until(`bucket.copy ${kindOf(to)}`, () => copyFromFirst(from, to, options)),
    }
  }

  return ({ buckets, index }) => ({
    buckets: { ...buckets, of: (client) => wrapBucket(buckets.of(client)) },
    index: new Proxy(index, {
      get(target, name: keyof typeof index) {
        const method = target[name] as (...args: unknown[]) => Promise<unknown>
        if (name === 'overdue' || name === 'list' || name === 'close') return method
        return (...args: unknown[]) => until(`index.${name}`, () => method(...args))
      },
    }),
  })
}

function kindOf(key: ObjectKey | undefined): string {
  if (key?.startsWith('.sluice/clients/')) return 'client'
  if (key?.startsWith('.sluice/aliases/')) return 'alias'
  if (key?.startsWith('.sluice/remote/')) return 'note'
  if (key?.startsWith('.sluice/redirects/')) return 'redirect'
  if (key?.startsWith('.sluice/tus/')) return key.includes('/pieces/') ? 'piece' : 'resumable'
  if (key?.startsWith('.sluice/')) return 'record'
  if (key?.endsWith('/live.m3u8')) return 'provisional'
  return (key && classifyKey(key)?.kind) ?? 'original'
}
