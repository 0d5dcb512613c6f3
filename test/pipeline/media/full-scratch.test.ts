import { execFile } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { PROJECT } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

const SCRIPT = `
  import { Readable } from 'node:stream'
  import { assetFromBytes } from '${PROJECT}/src/core/bytes/asset.ts'
  import { createScratch } from '${PROJECT}/src/engines/temp/scratch.ts'
  import { createSpool } from '${PROJECT}/src/engines/temp/spool.ts'
  const scratch = createScratch(process.env.FOLDER)
  const bytes = Buffer.alloc(600 * 1024)
  const asset = assetFromBytes(bytes, { mediaType: 'video/mp4', lastModified: new Date() })
  const { signal } = new AbortController()
  const spool = createSpool(scratch)
  const works = [scratch.take(asset, signal), spool(Readable.from([bytes]), { mediaType: 'video/mp4', signal })]
  const outcomes = await Promise.allSettled(works)
  console.log(JSON.stringify(outcomes.map(({ status, reason }) => [status, reason?.status, reason?.cause?.code])))
`

describe('temporary files on a full disk', () => {
  it('are a 503, also past the file size limit of the process, and nothing of them remains', async () => {
    const folder = await temporaryFolder()
    try {
      // Past 400 KiB a write fails with EFBIG: setrlimit(2), RLIMIT_FSIZE, in blocks of 512 bytes.
      const limited = 'trap "" XFSZ; ulimit -f 800; exec "$@"'
      const script = [process.execPath, '--import=tsx', '--input-type=module', '--eval', SCRIPT]
      const env = { ...process.env, FOLDER: join(folder, 'scratch') }
      const { stdout } = await run('/bin/sh', ['-c', limited, 'sh', ...script], { cwd: PROJECT, env })
      const refused = ['rejected', 503, 'EFBIG']
      expect(JSON.parse(stdout)).to.deep.equal([refused, refused])
      expect(await readdir(join(folder, 'scratch'))).to.deep.equal([])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
