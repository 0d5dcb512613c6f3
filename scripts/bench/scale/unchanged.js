import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { DeleteObjectsCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import sharp from 'sharp'
import { ensurePrograms } from '../../ready/system-packages.js'
import { machineBusySeconds } from '../measure.js'
import { ownCpuSeconds } from '../server.js'
import { startSluice } from '../sluice.js'
import { startS3 } from '../works/s3.js'
import { replaceOnly } from './fill.js'
import { isComparing } from './requests.js'
import { APP_SECRET, redisIndexAt } from './storage.js'

const PROCESSES = [1, 2]
const POLL_MS = 50
const PAGE = 1000
// The run of no Redis, so the index is compared with the bucket in the next seconds.
const NO_RUN = '[]'
const LIST_FILL = new URL('list-fill.py', import.meta.url).pathname
// That of Debian, which has the library of the S3 server.
const PYTHON = '/usr/bin/python3'
const recordOf = (key) => `.sluice/meta/${key}.json`

/**
 * A comparison of an index in Redis with a bucket of S3 in which no file differs. The bucket has the names and ETags of all originals
 * and records, but no object: where more than lists is read, files differ, and the measurement fails.
 *
 * @param {{folder: string, photo: string, redis: object, count: number}} options `count`: of files
 * @returns {Promise<Array<{work: string, figures: object}>>}
 */
export async function measureUnchanged({ folder, photo, redis, count: files }) {
  await ensurePrograms({ radosgw: 'radosgw' })
  const picture = join(folder, 'picture.jpg')
  await sharp(photo).resize(400).jpeg().toFile(picture)
  const s3 = await startS3(folder)
  const index = await redisIndexAt(redis.url)
  const start = async (uploads = []) => {
    const env = { REDIS_URL: redis.url, APP_SECRET, ...s3.env }
    const { server } = await startSluice({
      folder: mkdtempSync(join(folder, 'log-')),
      uploads,
      env,
    })
    return server
  }
  const compared = async () => {
    while (!(await index.run()).isCompared) await sleep(POLL_MS)
  }
  try {
    const first = await start([picture])
    await compared()
    await first.stop()
    const clientId = await fill({ s3, index, files })
    await index.markComplete()
    await index.noteCompared((await index.run()).id)
    const rows = []
    for (const processes of PROCESSES) {
      const servers = []
      for (let i = 0; i < processes; i += 1) servers.push(await start())
      try {
        await index.noteCompared(NO_RUN)
        // The first process that notes it begins. A comparison of few files may be over before it is seen.
        while (!(await isAnyComparing(servers)) && !(await index.run()).isCompared) await sleep(POLL_MS)
        const figures = await measured({ s3, redis, servers, files }, compared)
        rows.push({ work: `unchanged files, processes: ${processes}`, figures })
      } finally {
        await Promise.all(servers.map((server) => server.stop()))
      }
      const left = await index.totals(clientId)
      if (left.stored.files !== files)
        throw new Error(`expected ${files} files, ${left.stored.files} are left`)
    }
    return rows
  } finally {
    await index.close()
    s3.end()
  }
}

async function isAnyComparing(servers) {
  return (await Promise.all(servers.map(({ url }) => isComparing(url)))).includes(true)
}

/** Fills the index, and the bucket's list with the same files. */
async function fill({ s3, index, files }) {
  const { clientId, replaced } = await replaceOnly(index, { files, samples: 1 })
  const { client, bucket: Bucket } = s3
  const Objects = [replaced, recordOf(replaced)].map((Key) => ({ Key }))
  await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
  const models = new Map()
  const modelOf = async (name, size) => {
    const known = models.get(name.length)
    if (known) return known
    // Like no name of a file, and with the length of this one.
    const Key = `${name.slice(0, -1)}~`
    await client.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(size) }))
    models.set(name.length, Key)
    return Key
  }
  async function* lines() {
    for (let after = ''; after !== undefined; ) {
      const page = await index.filesBetween(clientId, { after, limit: PAGE })
      let text = ''
      for (const { ref, original } of page.files) {
        const { size } = original.record
        const record = recordOf(ref.key)
        // Lists do not show the size of a record.
        text += `${ref.key}\t${original.recordTag}\t${await modelOf(ref.key, size)}\n`
        text += `${record}\t${original.recordTag}\t${await modelOf(record, size)}\n`
      }
      yield text
      after = page.next
    }
  }
  const child = spawn(PYTHON, [LIST_FILL, join(s3.folder, 'ceph.conf')], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const ended = once(child, 'exit')
  await pipeline(Readable.from(lines()), child.stdin)
  const [code] = await ended
  if (code !== 0) throw new Error('the list of the bucket could not be written')
  const stored = [...models.values()].map((Key) => ({ Key }))
  await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: stored } }))
  return clientId
}

/** @returns the seconds of `work`, and the CPU time of all programs per file */
async function measured({ s3, redis, servers, files }, work) {
  const figures = async () => {
    const each = await Promise.all(servers.map((server) => server.cpuSeconds()))
    return {
      at: performance.now() / 1000,
      cpu: each.reduce((sum, seconds) => sum + seconds, 0),
      redis: (await redis.usage()).cpuMs / 1000,
      s3: s3.cpuSeconds(),
      own: ownCpuSeconds(),
      all: machineBusySeconds(),
    }
  }
  const before = await figures()
  await work()
  const after = await figures()
  const of = (name) => after[name] - before[name]
  const micros = (name) => (1e6 * of(name)) / files
  const others = of('all') - of('cpu') - of('redis') - of('s3') - of('own')
  return {
    seconds: of('at'),
    cpuMicros: micros('cpu'),
    redisMicros: micros('redis'),
    s3Micros: micros('s3'),
    otherCores: others / of('at'),
  }
}
