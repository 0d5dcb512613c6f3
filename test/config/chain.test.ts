import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadChain } from '../../config/chain.ts'
import { rejection } from '../support/rejection.ts'

describe('chain.json', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-chain-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const load = async (text: string) => {
    const file = join(folder, 'chain.json')
    await writeFile(file, text)
    return loadChain(file)
  }

  it('may leave out every member', async () => {
    expect(await load('{}')).to.deep.equal({
      order: [],
      disabled: [],
      options: {},
      ignoredParams: [],
      onLimit: 'refuse',
    })
  })

  it('has order, disabled plugins, options and ignored names', async () => {
    const chain = {
      order: ['a', 'b'],
      disabled: ['c'],
      options: { a: { strength: 2, nested: { on: true } } },
      ignoredParams: ['ref'],
      onLimit: 'original',
    }
    expect(await load(JSON.stringify(chain))).to.deep.equal(chain)
  })

  it('is shipped without disabled plugins, options or ignored names', async () => {
    expect(await loadChain(join(import.meta.dirname, '..', '..', 'config', 'chain.json'))).to.deep.include({
      disabled: [],
      options: {},
      ignoredParams: [],
      onLimit: 'refuse',
    })
  })

  for (const [what, text, reason] of [
    ['is not JSON', '{ order: [] }', /JSON/],
    ['is empty', '', /JSON/],
    ['is no object', '[]', /object/],
    ['has an unknown member', '{"ordre": []}', /"ordre"/],
    ['has an order that is no array', '{"order": "a"}', /order/],
    ['has an order of other things than names', '{"order": ["a", 1]}', /order\[1\]/],
    ['disables something that is no name', '{"disabled": [null]}', /disabled\[0\]/],
    ['has options that are no object', '{"options": {"a": 1}}', /options\.a/],
    ['passes over something that is no name', '{"ignoredParams": {}}', /ignoredParams/],
    ['does something else at a limit', '{"onLimit": "ignore"}', /onLimit: .*"refuse"\|"original"/],
  ] as const) {
    it(`is refused with its name and the reason when it ${what}`, async () => {
      const error = await load(text).then(
        () => undefined,
        (cause: Error) => cause,
      )
      expect(error?.message.startsWith(`${join(folder, 'chain.json')}: `), error?.message).to.equal(true)
      expect(error?.message).to.match(reason)
    })
  }

  it('reports every invalid key, one per line', async () => {
    const error = await rejection(load('{"order": ["a", 1], "disabled": {}}'))
    const file = join(folder, 'chain.json')
    expect((error as Error).message.split('\n')).to.deep.equal([
      `${file}: order[1]: Invalid input: expected string, received number`,
      `${file}: disabled: Invalid input: expected array, received object`,
    ])
  })

  it('has the defaults when the file is missing', async () => {
    const nothing = { order: [], disabled: [], options: {}, ignoredParams: [], onLimit: 'refuse' }
    expect(await loadChain(join(folder, 'nowhere', 'chain.json'))).to.deep.equal(nothing)
  })

  it('is refused with its name when it cannot be read', async () => {
    expect(await rejection(loadChain(folder)))
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.includes(folder)
  })
})
