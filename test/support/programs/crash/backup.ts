import { Readable } from 'node:stream'
import { loadConfig } from '../../../../config/load.ts'
import { diskBuckets } from '../../../../src/adapters/bucket/disk/disk.ts'
import { openInstallation } from '../../../../src/assembly/backup/installation.ts'
import type { Bucket } from '../../../../src/core/ports/bucket.ts'
import { backUp } from '../../../../src/service/backup/backup.ts'
import { restore } from '../../../../src/service/backup/restore.ts'

// A backup to the folder TARGET, or with RESTORE a restore from it, that kills its process when it has written a part of a file: that
// number KILLED_PUT, from 1.

const { TARGET = '', KILLED_PUT, RESTORE } = process.env

let puts = 0

function killing(bucket: Bucket): Bucket {
  return {
    ...bucket,
    put(key, bytes, options) {
      // Not of the claim.
      if (key.includes('/')) puts += 1
      return bucket.put(key, puts === Number(KILLED_PUT) ? Readable.from(untilKilled(bytes)) : bytes, options)
    },
  }
}

async function* untilKilled(bytes: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    yield (chunk as Buffer).subarray(0, 1)
    process.kill(process.pid, 'SIGKILL')
  }
}

const backup = (await diskBuckets({ folder: TARGET, urlOf: (key) => key })).of({ id: '.', token: '' })
const installation = await openInstallation(loadConfig(process.env), { mayBeNew: RESTORE !== undefined })
const observed = { signal: new AbortController().signal, async found() {}, async progress() {} }
if (RESTORE === undefined) await backUp({ installation, target: killing(backup), verify: false, ...observed })
else {
  const bucketOf = (client: Parameters<typeof installation.bucketOf>[0]) =>
    killing(installation.bucketOf(client))
  const killed = { ...installation, first: killing(installation.first), bucketOf }
  await restore({ installation: killed, source: backup, overwrite: false, ...observed })
}
