import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { root } from '../../ready/run.js'
import { freePort } from '../free-port.js'
import { cpuSecondsOf } from '../server.js'

const SCRIPT = join(root, 'scripts/servers/rgw.sh')
const BUCKET = 'bench'
// Those of rgw.sh.
const PROCESSES = ['monitor', 'disk', 'gateway']

/** Whether an S3 server can be started on this machine. */
export function hasS3() {
  return spawnSync('radosgw', ['--version']).status === 0
}

/**
 * Starts an S3 server with a bucket.
 *
 * @param {string} folder an existing folder, for a subfolder with the server's files
 * @returns {Promise<{env: object, folder: string, client: S3Client, bucket: string, put: (paths: string[]) => Promise<void>,
 *   cpuSeconds: () => number, end: () => void}>} `env`: the variables with which Sluice uses the bucket; `folder`: of the server's
 *   files; `put` stores files by their names; `cpuSeconds`: of all its processes
 */
export async function startS3(folder) {
  const own = join(folder, 's3')
  mkdirSync(own)
  const end = () => execFileSync(SCRIPT, ['stop', own])
  process.once('exit', end)
  const port = await freePort()
  await promisify(execFile)(SCRIPT, ['start', own, String(port)])
  const connection = {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'testkey', secretAccessKey: 'testsecret' },
    forcePathStyle: true,
  }
  const client = new S3Client(connection)
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  return {
    env: {
      S3_BUCKET: BUCKET,
      S3_FORCE_PATH_STYLE: 'true',
      AWS_ENDPOINT_URL_S3: connection.endpoint,
      AWS_REGION: connection.region,
      AWS_ACCESS_KEY_ID: connection.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: connection.credentials.secretAccessKey,
    },
    folder: own,
    client,
    bucket: BUCKET,
    cpuSeconds() {
      const pids = PROCESSES.map((name) => readFileSync(join(own, `${name}.pid`), 'utf8').trim())
      return pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0)
    },
    async put(paths) {
      for (const path of paths)
        await client.send(
          new PutObjectCommand({ Bucket: BUCKET, Key: basename(path), Body: readFileSync(path) }),
        )
    },
    end() {
      process.off('exit', end)
      client.destroy()
      end()
    },
  }
}
