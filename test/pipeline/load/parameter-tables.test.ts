import { expect } from 'chai'
import { knownFormat } from '../../../src/core/media/formats.ts'
import { expectation, type ParameterSpec, parseParameter } from '../../../src/core/plugin-api/parameter.ts'
import { Problem } from '../../../src/core/problem.ts'
import { createPlanner } from '../../../src/pipeline/plan/plan.ts'
import { shown } from '../../core/shown.ts'
import { loadWith } from './drop-ins.ts'

const LONG = '9'.repeat(10_000)
const NO_NUMBERS = [
  'abc',
  '',
  'NaN',
  'Infinity',
  '-Infinity',
  '1e309',
  '1e3',
  '0x1f',
  ' 5',
  '5 ',
  '+5',
  '٣',
  '5px',
  '5,',
  LONG,
]

/** What no parameter of a type accepts, whatever its bounds; of a type that is not here, what none does at all. */
const REFUSED: Readonly<Record<string, (spec: ParameterSpec) => readonly string[]>> = {
  integer: (spec) => [...NO_NUMBERS, '1.5', '5.0', '-0', ...outside(spec), ...misspelt(spec)],
  number: (spec) => [
    ...NO_NUMBERS.filter((text) => text !== '' || !('bare' in spec)),
    '1.2.3',
    '--1',
    '.',
    ...outside(spec),
    ...misspelt(spec),
  ],
  enum: () => ['', 'no such value', 'constructor', '__proto__', ' ', '1.5', '-1', LONG],
  flag: () => ['2', '-1', '1.5', 'abc', 'NaN', ' ', '1e309', LONG],
}

/** A number that would be within the bounds, were it written as numbers are here. */
function misspelt(spec: ParameterSpec): string[] {
  return 'min' in spec
    ? [`${spec.min}e0`, `+${spec.max}`, ` ${spec.min}`, `${spec.max}\n`, `${spec.min},`]
    : []
}

/** The nearest whole numbers past the bounds, and some that are far from them: 0, -1 and 5001 are most often among them. */
function outside(spec: ParameterSpec): string[] {
  if (spec.type !== 'integer' && spec.type !== 'number') return []
  const { min, max } = spec
  const near = [Math.ceil(min) - 1, Math.floor(max) + 1]
  return [...near, -1, 0, 5001, 1e14].filter((value) => value < min || value > max).map(String)
}

// Of each type of parameter one accepts one of these, if its bounds are not in the way; then its own follow.
const SOME = [
  '1',
  'fff',
  'a',
  '1,1',
  '1,1,1',
  '1,1,1,1',
  '1:1',
  `${'a'.repeat(22)}.png`,
  `${'a'.repeat(22)}.txt`,
]

/** Something that a parameter does accept. */
function accepted(name: string, spec: ParameterSpec): string {
  const own = Object.values(spec).flat().map(String)
  const found = [...SOME, ...own].find((value) => {
    try {
      return parseParameter(name, spec, value) !== undefined
    } catch {
      return false
    }
  })
  if (found === undefined) throw new Error(`expected one of ${SOME.join(' ')} to be accepted for ${name}`)
  return found
}

const { transforms } = await loadWith({})
const planner = createPlanner(transforms, [])

function refusal(...query: Array<[string, string]>): Problem {
  try {
    planner({ query, format: knownFormat('webp'), preferences: {} })
  } catch (error) {
    expect(error).to.be.instanceOf(Problem)
    return error as Problem
  }
  throw new Error(`${shown(JSON.stringify(query))} was accepted`)
}

describe('the parameters of all plugins', () => {
  const all = transforms.flatMap(({ plugin, media }) =>
    media.includes('image') ? Object.entries(plugin.params) : [],
  )

  for (const [name, spec] of all) {
    const words = [name, ...(spec.aliases ?? [])]
    const refused = REFUSED[spec.type]?.(spec) ?? [LONG]

    it(`${words.join(', ')}: a 400 with name, expected and received for any value but ${expectation(spec)}`, () => {
      for (const word of words) {
        for (const value of refused) {
          const problem = refusal([word, value])
          const received = value.length > 100 ? `${value.slice(0, 100)}…` : value
          expect(problem, shown(value)).to.include({ status: 400, code: 'bad_parameter' })
          expect(problem.members, shown(value)).to.include({ param: word, received })
          const { expected } = problem.members
          if (spec.type in REFUSED) expect(expected).to.equal(expectation(spec))
          expect(problem.message).to.equal(
            `expected ${expected} for ${word} but received ${JSON.stringify(received)}`,
          )
        }
      }
    })

    it(`${words.join(', ')}: a 400 when two of its names are given`, () => {
      const value = accepted(name, spec)
      for (const word of words) {
        const { status, members } = refusal([name, value], [word, value])
        expect({ status, ...members }).to.deep.equal({
          status: 400,
          param: word,
          expected: 'one value',
          received: `${value}, ${value}`,
        })
      }
    })

    for (const word of words.filter(({ length }) => length > 3)) {
      it(`${word}: is suggested for a typing error`, () => {
        const [slipped, swapped] = [`${word}x`, `${word.slice(0, -2)}${word.at(-1)}${word.at(-2)}`]
        for (const wrong of [slipped, swapped, word.toUpperCase()].filter((each) => each !== word)) {
          const problem = refusal([wrong, '1'])
          expect(problem, wrong).to.include({ status: 400, code: 'unknown_parameter' })
          expect(problem.message).to.equal(
            `there is no parameter "${wrong}" for image files; did you mean "${problem.members.nearest}"?`,
          )
          if (wrong === word.toUpperCase()) expect(problem.members.nearest).to.equal(word)
        }
      })
    }
  }

  // In the very words, so that a fault in what makes them shows.
  for (const [query, message] of [
    [['w', '0'], 'expected an integer from 1 to 5000 px or auto for w but received "0"'],
    [['w', '-1'], 'expected an integer from 1 to 5000 px or auto for w but received "-1"'],
    [['width', '1.5'], 'expected an integer from 1 to 5000 px or auto for width but received "1.5"'],
    [['h', 'abc'], 'expected an integer from 1 to 5000 px for h but received "abc"'],
    [['height', '5001'], 'expected an integer from 1 to 5000 px for height but received "5001"'],
    [['h', ''], 'expected an integer from 1 to 5000 px for h but received ""'],
    [['q', '101'], 'expected an integer from 1 to 100 for q but received "101"'],
    [['dpr', '3.01'], 'expected a number from 1 to 3 or auto for dpr but received "3.01"'],
    [['f', 'heic'], 'expected one of jpeg, png, webp, avif, tiff, gif, svg, auto for f but received "heic"'],
    [['animated', '2'], 'expected one of 0, 1 for animated but received "2"'],
    [['lossless', 'yes'], 'expected no value, 1 or 0 for lossless but received "yes"'],
    [['maxbytes', '0'], 'expected an integer from 1 to 100000000 bytes for maxbytes but received "0"'],
  ] as Array<[[string, string], string]>) {
    it(`have the message: ${message}`, () => {
      expect(refusal(query).message).to.equal(message)
    })
  }
})
