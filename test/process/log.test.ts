import { spawnSync } from 'node:child_process'
import { setImmediate as afterPoll } from 'node:timers/promises'
import { expect } from 'chai'
import { batched } from '../../src/process/web/log.ts'

describe('the log of a web process', () => {
  it('writes the lines of one turn of the event loop together', async () => {
    const writes: string[] = []
    const batch = batched((lines) => writes.push(lines))
    batch.write('one\n')
    batch.write('two\n')
    expect(writes).to.deep.equal([])
    await afterPoll()
    expect(writes).to.deep.equal(['one\ntwo\n'])
    batch.write('three\n')
    await afterPoll()
    expect(writes).to.deep.equal(['one\ntwo\n', 'three\n'])
  })

  for (const [end, code] of Object.entries({ 'process.exit()': 0, "throw new Error('end')": 1 }))
    it(`is complete after ${end}`, () => {
      const log = new URL('../../src/process/web/log.ts', import.meta.url).href
      const script = `import { createLog } from ${JSON.stringify(log)}
const log = createLog('info')
for (let number = 1; number <= 1000; number += 1) log.info({ number }, 'line')
${end}`
      const { status, stdout } = spawnSync(
        process.execPath,
        ['--import=tsx', '--input-type=module', '--eval', script],
        { encoding: 'utf8', timeout: 30_000 },
      )
      expect(status).to.equal(code)
      const numbers = stdout.match(/(?<="number":)\d+/g)
      expect(numbers).to.have.length(1000)
      expect(numbers?.at(-1)).to.equal('1000')
    })
})
