import { Readable } from 'node:stream'
import { loadConfig } from '../../../../config/load.ts'
import { diskBuckets } from '../../../../src/adapters/bucket/disk/disk.ts'
import { openInstallation } from '../../../../src/assembly/backup/installation.ts'
import type { Bucket } from '../../../../src/core/ports/bucket.ts'
import { backUp } from '../../../../src/service/backup/backup.ts'

// A backup to the folder TARGET that kills its process when it has written a part of an object: that number KILLED_OBJECT, from 1.

const { TARGET = '', KILLED_OBJECT } = process.env

let objects = 0

function killing(bucket: Bucket): Bucket {
  return {
    ...bucket,
    put(key, bytes, options) {
      if (key.startsWith('objects/')) objects += 1
      const isLast = objects === Number(KILLED_OBJECT)
      return bucket.put(key, isLast ? Readable.from(untilKilled(bytes)) : bytes, options)
    },
  }
}

async function* untilKilled(bytes: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    yield (chunk as Buffer).subarray(0, 1)
    process.kill(process.pid, 'SIGKILL')
  }
}

const buckets = await diskBuckets({ folder: TARGET, urlOf: (key) => key })
await backUp({
  installation: await openInstallation(loadConfig(process.env), { mayBeNew: false }),
  target: killing(buckets.of({ id: '.', token: '' })),
  verify: false,
  signal: new AbortController().signal,
  async found() {},
  async progress() {},
})
