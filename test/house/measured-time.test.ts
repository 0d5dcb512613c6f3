import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { lineOf } from '../support/texts/plain-words.ts'

const UPPER_BOUND = String.raw`\)\s*\.to(?:\.be)?(?:\.at)?\.(?:below|lessThan|lt|most|lte|within|closeTo|approximately)\(`
const ELAPSED = String.raw`(?:Date|performance)\.now\(\) - \w`
// The default of `.mocharc.json`, which leaves time for a slow machine.
const LEAST_TIMEOUT_MS = 60_000
// Checks its limit in `npm run test:long` only.
const FOR_LONG_TESTS = 'support/promised.ts'

/** What depends on how fast the machine is, with its index in the code of a test. */
function guesses(code: string): Array<{ index: number; text: string }> {
  const found = [
    ...code.matchAll(new RegExp(String.raw`expect\([^\n]*${ELAPSED}[^\n]*${UPPER_BOUND}`, 'g')),
    ...code.matchAll(/withinMs: [\d_]+/g),
    ...[...code.matchAll(/(?<!AbortSignal)\.timeout\(([\d_]+)\)/g)].filter(
      ([, ms = '']) => Number(ms.replaceAll('_', '')) < LEAST_TIMEOUT_MS,
    ),
  ]
  const variables = code.matchAll(new RegExp(String.raw`(?:const|let) (\w+) = ${ELAPSED}`, 'g'))
  for (const [, name] of variables)
    found.push(...code.matchAll(new RegExp(String.raw`expect\(${name}\b[^\n]*${UPPER_BOUND}`, 'g')))
  return found.map(({ index, 0: text }) => ({ index, text }))
}

describe('the tests', () => {
  it('compare with no measured time, and have no short time limits', () => {
    const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
      (file) =>
        file.endsWith('.ts') &&
        file !== FOR_LONG_TESTS &&
        !/node_modules|^long\/|^house\/measured-time/.test(file),
    )
    expect(files.length).to.be.above(500)
    const found = files.flatMap((file) => {
      const code = readFileSync(join('test', file), 'utf8')
      return guesses(code).map(({ index, text }) => `test/${file}:${lineOf(code, index)}: ${text}`)
    })
    expect(
      found,
      `Inject a clock or await an event, or move the limit to test/long:\n${found.join('\n')}\n`,
    ).to.deep.equal([])
  })

  const bad: Record<string, string> = {
    'an upper bound of elapsed time': 'expect(performance.now() - since).to.be.below(1000)',
    'a range of elapsed time': "expect(Date.now() - since, 'ms').to.be.within(100, 900)",
    'a variable with elapsed time': 'const ms = Date.now() - since\nexpect(ms).to.be.at.most(900)',
    'a short patience': 'await eventually(check, { withinMs: 2000 })',
    'a time limit below the default': 'this.timeout(2000)',
  }
  for (const [what, code] of Object.entries(bad))
    it(`are checked for ${what}`, () => {
      expect(guesses(code)).to.have.length(1)
    })

  it('may have lower bounds of elapsed time, and longer limits', () => {
    const good = [
      'expect(Date.now() - since).to.be.at.least(95)',
      'const ms = Date.now() - since\nexpect(ms).to.be.above(9)',
      'await eventually(check, { withinMs: LONG_MS })',
      'this.timeout(120_000)',
      'AbortSignal.timeout(1)',
    ]
    expect(good.flatMap(guesses)).to.deep.equal([])
  })
})
