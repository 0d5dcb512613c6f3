import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually, LONG_MS } from '../support/eventually.ts'
import { PROJECT } from '../support/service.ts'
import { sized } from '../support/sized.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const plugin = (parameter: string) => `export default {
  name: 'image-mine',
  engine: 'sharp',
  phase: 'effect',
  params: { ${parameter}: { type: 'flag', help: 'Mine' } },
  transform: (image) => image,
}
`

describe('npm run dev', function () {
  this.timeout(120_000)
  let folder: string
  before(async () => {
    folder = await temporaryFolder()
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it(`restarts after a change of a plugin${sized('', ', and continues after a broken one')}`, async () => {
    const file = join(folder, 'mine.js')
    await writeFile(file, plugin('one'))
    const { dev } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')).scripts
    const { PATH = '' } = process.env
    const env = { PATH, PORT: '0', HOST: '127.0.0.1', DATA_DIR: join(folder, 'data'), PLUGINS_DIR: folder }
    const child = spawn('sh', ['-c', dev], { cwd: PROJECT, env, detached: true })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    /** The parameters of the server that started last, as soon as they include this one. */
    const serves = (parameter: string) =>
      eventually(
        async () => {
          const port = [...output.matchAll(/"port":(\d+)/g)].at(-1)?.[1]
          expect(port, output).to.not.equal(undefined)
          const response = await fetch(`http://127.0.0.1:${port}/v1/parameters`)
          expect(await response.text()).to.include(`"${parameter}"`)
        },
        { withinMs: LONG_MS },
      )
    try {
      await serves('one')
      // A restart with a broken plugin, and the restart after its repair.
      await writeFile(file, 'export default {')
      await eventually(() => expect(output).to.include('mine.js: cannot be loaded'), { withinMs: LONG_MS })
      // Another start takes three seconds of CPU time.
      if (sized(false, true)) {
        await writeFile(file, plugin('two'))
        await serves('two')
      }
    } finally {
      const closed = once(child, 'close')
      // The group: the watcher and the server. The watcher does not always end on SIGTERM, when the server ends first.
      process.kill(-(child.pid ?? 0), 'SIGKILL')
      await closed
    }
  })
})
