import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadPlugins } from '../../../src/pipeline/load/load.ts'
import { rejection } from '../../support/rejection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('event plugins', () => {
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  async function load(members: string, options: Record<string, Record<string, unknown>> = {}) {
    const file = join(folder, 'told.js')
    await writeFile(file, `export default { name: 'told', on: { 'client.changed'() {} }, ${members} }`)
    const chain = { order: [], disabled: [], options, ignoredParams: [] }
    return loadPlugins({
      folders: [{ path: folder, extension: '.js', shipped: false }],
      engines: new Map(),
      chain,
    })
  }

  it('have their options, overridden by the chain, and one target by default', async () => {
    const { events } = await load('durable: true, options: { a: 1, b: { c: 2 } }', { told: { b: 3 } })
    expect(events).to.have.length(1)
    expect(events[0]?.plugin).to.include({ name: 'told', durable: true })
    expect(events[0]?.options).to.deep.equal({ a: 1, b: 3 })
    expect([...(events[0]?.targets ?? [])]).to.deep.equal([['client.changed', ['']]])
  })

  it('return their targets by event and options', async () => {
    const { events } = await load('targets: (name, { to }) => to.map((each) => name + each)', {
      told: { to: ['x', 'y'] },
    })
    const targets = events[0]?.targets.get('client.changed')
    expect(targets).to.deep.equal(['client.changedx', 'client.changedy'])
  })

  for (const [members, reason] of Object.entries({
    "durable: 'yes'": 'expected true or false for durable',
    'options: []': 'expected an object for options',
    "targets: 'x'": 'expected a function for targets',
    "targets: () => 'x'": 'expected targets to return an array of strings',
    'targets: () => [1]': 'expected targets to return an array of strings',
    'targets: async () => []': 'expected targets to return an array of strings',
    "targets() { throw new Error('expected a url') }": 'expected a url',
    "targets() { throw 'no url' }": 'no url',
  })) {
    it(`stop the start with ${members}`, async () => {
      const error = (await rejection(load(members))) as Error
      expect(error.name).to.equal('PluginError')
      expect(error.message).to.equal(`plugin ${join(folder, 'told.js')}: ${reason}`)
    })
  }
})
