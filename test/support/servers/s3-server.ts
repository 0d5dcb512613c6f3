import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { eventually } from '../eventually.ts'
import { atEnd } from './at-end.ts'
import { freePort } from './free-port.ts'

/** A Ceph gateway of this test run. */
export interface S3Server {
  /** For the adapter, and for clients that look behind its back. */
  connection: S3Connection
  client: S3Client
  /** Creates a new, empty bucket. @returns its name */
  newBucket(): Promise<string>
}

/** A gateway of one suite, which can fail. */
export interface OwnS3Server extends S3Server {
  /** From now on it accepts connections and requests, and never responds. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Ends it; what it has stored stays. */
  stop(): Promise<void>
  restart(): Promise<void>
  /** Ends it, and removes what it has stored. */
  end(): Promise<void>
}

export interface S3Connection {
  endpoint: string
  region: string
  credentials: { accessKeyId: string; secretAccessKey: string }
  forcePathStyle: true
  /** Of the shared server, which never fails: a busy machine is slow. */
  silenceMs?: number | undefined
}

const SCRIPT = join(import.meta.dirname, '..', '..', '..', 'scripts', 'servers', 'rgw.sh')
// Under a lock that the server does not inherit. The first lane chooses the port.
const JOIN = `
  [ -s "$1/port" ] || echo "$2" > "$1/port"
  "$0" start "$1" "$(cat "$1/port")" >&2 || { rm "$1/port"; exit 1; }
  cat "$1/port"`
const PATIENT_MS = 15_000
// Another process may take the port between our check and the start of the server.
const ATTEMPTS = 3

/** In `npm test`: the folder of the server that all lanes share. The first one that needs it starts it, and scripts/lanes.js stops it. */
const shared = process.env.SLUICE_TEST_S3_FOLDER

let started: Promise<OwnS3Server> | undefined

/** The server of this process, and of the other lanes: started at the first call, stopped with the process, however that ends. */
export function s3Server(): Promise<S3Server> {
  started ??= shared === undefined ? startS3({ silenceMs: PATIENT_MS }) : joinShared(shared)
  return started
}

atEnd(async () => (await started)?.end())

/** A server for tests that stop or freeze it, and end it afterwards. It stops with this process, however that ends. */
export async function startS3({
  attempts = ATTEMPTS,
  silenceMs,
}: {
  attempts?: number
  silenceMs?: number | undefined
} = {}): Promise<OwnS3Server> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-s3-'))
  const end = whenThisProcessEnds(folder)
  const port = await freePort()
  try {
    await promisify(execFile)(SCRIPT, ['start', folder, String(port)])
  } catch (error) {
    await end()
    if (attempts > 1) return startS3({ attempts: attempts - 1, silenceMs })
    throw error
  }
  return serverIn(folder, { port, silenceMs, end })
}

async function joinShared(folder: string, attempts = ATTEMPTS): Promise<OwnS3Server> {
  try {
    const port = String(await freePort())
    const { stdout } = await promisify(execFile)('flock', [
      '-o',
      folder,
      'sh',
      '-c',
      JOIN,
      SCRIPT,
      folder,
      port,
    ])
    return serverIn(folder, { port: Number(stdout), silenceMs: PATIENT_MS, end: async () => {} })
  } catch (error) {
    if (attempts > 1) return joinShared(folder, attempts - 1)
    throw error
  }
}

function serverIn(
  folder: string,
  { port, silenceMs, end }: { port: number; silenceMs: number | undefined; end(): Promise<void> },
): OwnS3Server {
  const connection: S3Connection = {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'testkey', secretAccessKey: 'testsecret' },
    forcePathStyle: true,
    silenceMs,
  }
  const client = new S3Client(connection)
  const signal = async (name: NodeJS.Signals) =>
    process.kill(Number(await readFile(join(folder, 'gateway.pid'), 'utf8')), name)
  let buckets = 0
  return {
    connection,
    client,
    async newBucket() {
      buckets += 1
      const Bucket = `test-${process.pid}-${buckets}`
      await client.send(new CreateBucketCommand({ Bucket }))
      return Bucket
    },
    freeze: async () => void (await signal('SIGSTOP')),
    thaw: async () => void (await signal('SIGCONT')),
    async stop() {
      // The disk is a separate process. After a long run, a graceful stop takes too long.
      await signal('SIGKILL')
      await eventually(async () => expect(await answers(port)).to.equal(false))
    },
    restart: async () => void (await promisify(execFile)(SCRIPT, ['start', folder, String(port)])),
    async end() {
      client.destroy()
      await end()
    },
  }
}

/** Stops the server in `folder` and removes that: when asked to, or when this process is killed and its pipe closes. */
function whenThisProcessEnds(folder: string): () => Promise<void> {
  const guard = spawn('sh', ['-c', 'cat; "$0" stop "$1"; rm -rf "$1"', SCRIPT, folder], {
    // Out of reach of a Ctrl-C for the tests.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  return async () => {
    guard.ref()
    guard.stdin.end()
    await once(guard, 'exit')
  }
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}`).then(
    () => true,
    () => false,
  )
}
