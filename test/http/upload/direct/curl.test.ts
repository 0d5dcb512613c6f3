import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../../../support/backends.ts'
import type { WireRecord } from '../../../support/requests/client.ts'
import { exchange } from '../../../support/requests/exchange.ts'
import { PROJECT, startService } from '../../../support/service.ts'
import { noise } from '../../../support/stored/noise.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

describe('the commands of the guide to direct uploads', () => {
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))
  const run = promisify(execFile)

  it('upload a small file, and one in several parts', async () => {
    const service = await start()
    const page = await readFile(join(PROJECT, 'docs', 'how-to', 'direct-uploads.md'), 'utf8')
    const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? []
    const folder = await temporaryFolder()
    try {
      for (const bytes of [noise(5000), noise(17 * 1024 ** 2)]) {
        await writeFile(join(folder, 'photo.jpg'), bytes)
        const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', commands], {
          cwd: folder,
          env: { ...process.env, SLUICE: service.url, SECRET: service.tokens.secretClientToken },
          timeout: 30_000,
        })
        const [record] = JSON.parse(stdout.slice(stdout.indexOf('['))) as WireRecord[]
        expect(record).to.include({ originalName: 'photo.jpg', size: bytes.length })
        const { body } = await exchange(service, new URL(record?.src ?? '').pathname)
        expect(body.equals(bytes)).to.equal(true)
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
