import cluster from 'node:cluster'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { isOneOfSeveral, runWebProcesses, tellReady } from '../../../src/process/web/cluster.ts'

// Two web processes under the primary process of main.ts, with a server that only answers its process id. A start of the
// service takes more than a second of CPU time, and this takes a tenth of it. DEED is what the processes do:
// - serve: SIGTERM and SIGINT are logged, and end a process at the second of them
// - deaf: they ignore signals
// - perish: all but the first two exit at once
// - fail: both fail to start, at nearly the same moment
// - start: they never become ready
const { DEED = '', GRACE_MS = '10000' } = process.env

const say = (...words: unknown[]) => process.stdout.write(`${words.join(' ')}\n`)
const writeLine = (fields: object, msg: string) => say(JSON.stringify({ ...fields, msg }))
const log = { debug: writeLine, info: writeLine, warn: writeLine, error: writeLine }

async function serve(): Promise<void> {
  if (DEED === 'perish' && (cluster.worker?.id ?? 0) > 2) process.exit(3)
  if (DEED === 'fail') throw new Error('no process can start')
  let signals = 0
  if (DEED === 'serve' || DEED === 'deaf')
    for (const name of ['SIGTERM', 'SIGINT'])
      process.on(name, () => {
        signals += 1
        say('signal', name, process.pid)
        if (DEED === 'serve' && signals > 1) process.exit(0)
      })
  if (DEED === 'start') {
    say('starting')
    await pause(60_000)
  }
  const server = createServer((_, res) => res.end(String(process.pid)))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  tellReady({ baseUrl: `http://localhost:${(server.address() as AddressInfo).port}` })
}

async function main(): Promise<void> {
  if (isOneOfSeveral) return serve()
  const { baseUrl } = await runWebProcesses({ count: 2, graceMs: Number(GRACE_MS), log })
  say(`Sluice is ready at ${baseUrl}`)
}

await main().catch((error: Error) => {
  process.stderr.write(`sluice: ${error.message}\n`)
  process.exit(1)
})
