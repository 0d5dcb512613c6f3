import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { deleteFile, uploadOne } from '../support/requests/client.ts'
import { type Attacked, attackedServer, watched } from './attacked.ts'

const FILES = 100_000

// What a review of reliability found as M2: on disk, a DELETE read the whole folder of its file.
describe(`long: a folder of ${FILES} files`, function () {
  this.timeout(600_000)
  const server = attackedServer()
  const upload = () => uploadOne(server(), { name: 'a.txt', bytes: 'some text' })

  /** Files next to that of the key, which the index does not have. */
  async function fill(key: string): Promise<void> {
    const folder = dirname(join(server().dataDir, 'bucket', 'first', key))
    await mkdir(folder, { recursive: true })
    for (let i = 0; i < FILES; i += 1)
      await writeFile(join(folder, `${String(i).padStart(22, '2')}.txt`), 'x')
  }

  it('handles a DELETE in about the time of an empty one', async () => {
    const timed = async () => {
      const millis: number[] = []
      for (let i = 0; i < 20; i += 1) {
        const { s3PathOriginal } = await upload()
        const began = performance.now()
        expect((await deleteFile(server(), s3PathOriginal)).status).to.equal(200)
        millis.push(performance.now() - began)
      }
      return millis.sort((a, b) => a - b)[10] ?? 0
    }
    const alone = await timed()
    await fill((await upload()).s3PathOriginal)
    const { outcome: amongMany } = await watched(server(), timed)
    console.log(`      ${JSON.stringify({ aloneMs: Math.round(alone), amongManyMs: Math.round(amongMany) })}`)
    expect(amongMany).to.be.below(3 * alone + 10)
  })

  it('handles a hundred aborted uploads without work for each file', async () => {
    await fill((await upload()).s3PathOriginal)
    const before = await cpuSeconds(server().pid)
    await Promise.all(Array.from({ length: 100 }, () => brokenOff(server())))
    await pause(5000)
    const seconds = (await cpuSeconds(server().pid)) - before
    console.log(`      ${JSON.stringify({ seconds })}`)
    expect(seconds).to.be.below(3)
  })
})

/** A PUT of 200 KB of text of which 100 KB come before the connection ends. */
async function brokenOff({ url, tokens }: Attacked): Promise<void> {
  const headers = { Authorization: tokens.secretClientToken, 'Content-Length': '200000' }
  const sent = request(`${url}/v1/upload/a.txt`, { method: 'PUT', headers, agent: false })
  sent.on('error', () => {}).write('some text '.repeat(10_000))
  await pause(200)
  sent.destroy()
}

/** User and system time of a process: proc(5), stat, in hundredths of a second. */
async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}
