import { expect } from 'chai'
import fc from 'fast-check'
import { searchedKeys, searchTerms } from '../../../src/adapters/file-index/search-terms.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { folded } from '../../../src/core/text/folded.ts'
import { holds } from '../../contracts/property.ts'

const KEY = storedKey('image/png/7uLqEUXGZ4uF9zhXeWQ5vR.png')
const MANY = 1000

describe('the search terms of a file', () => {
  /** Whether a file with this name is found by this part of a name, or compared by it. */
  async function isFound(originalName: string, part: string): Promise<boolean> {
    const terms = searchTerms({ key: KEY, originalName })
    const keys = await searchedKeys(
      { name: folded(part) },
      {
        most: MANY,
        read: async (one) =>
          terms
            .filter((term) => ('whole' in one ? term === one.whole : term.startsWith(one.beginning)))
            .map((term) => [term, KEY]),
      },
    )
    // Undefined: all files are compared.
    return keys === undefined || keys.length > 0
  }

  const names = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
    .filter((name) => !/[\n\r]/.test(name))

  it('find it by every part of its name, folded or not', () =>
    holds(
      fc.asyncProperty(names, fc.nat(), fc.nat(), async (name, from, length) => {
        const characters = [...folded(name)]
        const start = from % characters.length
        const part = characters.slice(start, start + 2 + (length % 40)).join('')
        expect(await isFound(name, part)).to.equal(true)
      }),
    ))

  it('do not find it by what its name does not contain', () =>
    holds(
      fc.asyncProperty(names, names, async (name, part) => {
        // A longer part is found by its beginning, and then compared.
        fc.pre([...folded(part)].length >= 2 && [...folded(part)].length <= 31)
        fc.pre(!folded(name).includes(folded(part)))
        expect(await isFound(name, part)).to.equal(false)
      }),
    ))
})
