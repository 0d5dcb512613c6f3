import { setTimeout as pause } from 'node:timers/promises'
import { assetFromBytes, readAll } from '../../../src/core/bytes/asset.ts'
import { badParameter } from '../../../src/core/problem.ts'
import { workForParent } from '../../../src/process/child-pool/child.ts'

/** The task of the worker, as JSON. */
export type Deed =
  | { do: 'repeat'; times: number }
  | { do: 'pid' }
  | { do: 'sleep' }
  | { do: 'spin' }
  | { do: 'swell'; spinning: boolean }
  | { do: 'swellLater' }
  | { do: 'abort' }
  | { do: 'refuse' }
  | { do: 'throw' }
  | { do: 'say' }
  | { do: 'fetch'; names: string[] }

const text = (words: string | Uint8Array) =>
  assetFromBytes(Buffer.from(words), { mediaType: 'text/plain', lastModified: new Date(1000) })

const later: Buffer[] = []

workForParent(async (setup) => {
  const { broken, exit, maxMemoryBytes } = setup as { broken?: string; exit?: number; maxMemoryBytes: number }
  if (exit !== undefined) process.exit(exit)
  if (broken) throw new Error(broken)
  return {
    maxMemoryBytes,
    async work(task, { source, asset, log }) {
      const deed = task as Deed
      switch (deed.do) {
        case 'repeat': {
          const bytes = await readAll(source)
          return {
            ...source,
            ...text(Buffer.concat(Array(deed.times).fill(bytes))),
            mediaType: source.mediaType,
          }
        }
        case 'pid':
          return text(String(process.pid))
        case 'sleep':
          return pause(600_000, text(''))
        case 'spin':
          for (;;);
        case 'swell':
          for (const kept: Buffer[] = []; ; ) {
            kept.push(Buffer.alloc(10_000_000, 1))
            if (!deed.spinning) await pause(5)
          }
        case 'swellLater':
          // More than a child may have when it is reused.
          setTimeout(() => {
            later.push(Buffer.alloc(330_000_000, 1))
          }, 300)
          return text(String(process.pid))
        case 'abort':
          process.stderr.write('out of luck\n')
          return process.abort()
        case 'refuse':
          throw badParameter({ param: 'x', expected: 'less', received: 'more' })
        case 'throw':
          throw new Error('the outer one', { cause: new TypeError('the inner one') })
        case 'say':
          log.warn({ err: new Error('as it is'), n: 1 }, 'said')
          return text('')
        case 'fetch': {
          const found = await Promise.all(
            deed.names.map((name) =>
              asset(name)
                .then(readAll)
                .catch((error) => `(${error.status} ${error.message})`),
            ),
          )
          return text(found.join(', '))
        }
      }
    },
  }
})
