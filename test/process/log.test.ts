import { spawnSync } from 'node:child_process'
import { setImmediate as afterPoll } from 'node:timers/promises'
import { expect } from 'chai'
import { batched } from '../../src/process/web/log.ts'
import { eventually } from '../support/eventually.ts'
import { everyNth } from '../support/sized.ts'

describe('the log of a web process', () => {
  it('writes lines together: those of 10 ms, or 16 KB of them', async () => {
    const writes: string[] = []
    const batch = batched((lines) => writes.push(lines))
    batch.write('one\n')
    await afterPoll()
    batch.write('two\n')
    expect(writes).to.deep.equal([])
    await eventually(() => expect(writes).to.deep.equal(['one\ntwo\n']))
    const long = `${'x'.repeat(10_000)}\n`
    for (let i = 0; i < 3; i += 1) batch.write(long)
    expect(writes.slice(1)).to.deep.equal([long + long])
    await eventually(() => expect(writes.slice(1)).to.deep.equal([long + long, long]))
  })

  // Each is a process that compiles the log.
  for (const [end, code] of everyNth(2, Object.entries({ 'process.exit()': 0, "throw new Error('end')": 1 })))
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
      // The last lines may overtake a write that was in progress.
      const expected = Array.from({ length: 1000 }, (_, i) => i + 1)
      expect(numbers?.map(Number).sort((a, b) => a - b)).to.deep.equal(expected)
    })
})
