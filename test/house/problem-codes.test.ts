import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const PAGE = join('docs', 'reference', 'errors.md')
/** A code as a problem has it, by a literal or by a constant; or as `refusal` takes it. */
const CODE = /\bcode: (?:'(?<literal>[a-z_]+)'|(?<constant>[A-Z][A-Z_]+)\b)|refusal\('(?<given>[a-z_]+)'/g
const CONSTANT = /const (?<name>[A-Z][A-Z_]+) = '(?<value>[a-z_]+)'/g
/** Status and code of one problem, where both are literals next to each other. */
const PAIR = /status: (?<status>\d{3}),\s*code: '(?<code>[a-z_]+)'/g
/** A problem that hands on the code of another one, or that of `refusal`. */
const HANDED_ON =
  /^\((?:\{[^}]*\bcode,|\{\s*\.\.\.this\.toJSON|\{\s*\.\.\.\{[^}]*code: error\.code|reply\.problem|sent\.problem|parsed\.problem|known|options)/

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join('src', path), 'utf8') }))
const text = sources.map((source) => source.text).join('\n')

/** The rows of the page: a code, with the statuses that it may have. */
const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| `([a-z_]+)` \| (\d{3}(?:, \d{3})*) \|/gm)].map(
  ([, code = '', statuses = '']) => ({ code, statuses: statuses.split(', ') }),
)

function codesOfSources(): Set<string> {
  const constants = new Map([...text.matchAll(CONSTANT)].map(({ groups }) => [groups?.name, groups?.value]))
  const codes = [...text.matchAll(CODE)].map(
    ({ groups }) => groups?.literal ?? groups?.given ?? constants.get(groups?.constant) ?? groups?.constant,
  )
  return new Set(codes.filter((code) => code !== undefined))
}

describe(PAGE, () => {
  const codes = codesOfSources()

  it('lists each problem code of src, once', () => {
    expect(codes.size).to.be.above(80)
    expect(rows.map(({ code }) => code).sort()).to.deep.equal([...codes].sort())
  })

  it('gives each code the statuses that src gives it', () => {
    const listed = new Map(rows.map(({ code, statuses }) => [code, statuses]))
    const wrong = [...text.matchAll(PAIR)]
      .map(({ groups }) => ({ code: groups?.code ?? '', status: groups?.status ?? '' }))
      .filter(({ code, status }) => !listed.get(code)?.includes(status))
    expect(wrong).to.deep.equal([])
  })

  it('knows every code of src, because all codes have the same form', () => {
    const unknown = sources.flatMap(({ path, text: source }) =>
      [...source.matchAll(/new Problem(?=\()/g)]
        .map(({ index }) => source.slice(index + 'new Problem'.length))
        .filter((rest) => {
          const options = rest.slice(0, rest.search(/\bdetail\b|\)/))
          return options.search(CODE) === -1 && !HANDED_ON.test(rest)
        })
        .map((rest) => `${path}: ${rest.slice(0, 80)}`),
    )
    expect(unknown).to.deep.equal([])
  })
})
