import { expect } from 'chai'
import { rejection } from '../../support/rejection.ts'
import { loadWith } from './drop-ins.ts'

const scanner = (name: string, members = '') =>
  `export default { name: '${name}', options: { a: 1, b: 2 }, ${members} scan: async () => ({ state: 'clean' }) }\n`

describe('a scanner plugin', () => {
  it('has its options, overridden by the chain', async () => {
    const { scanner: loaded } = await loadWith({ 'one.js': scanner('one') }, { options: { one: { b: 3 } } })
    expect(loaded?.options).to.deep.equal({ a: 1, b: 3 })
  })

  it('is the only one, and has no members of other kinds or of other types', async () => {
    const messageFor = async (files: Record<string, string>) => String(await rejection(loadWith(files)))
    const two = { 'one.js': scanner('one'), 'two.js': scanner('two') }
    expect(await messageFor(two)).to.include('is already the scanner: disable one of them')
    expect(await messageFor({ 'one.js': scanner('one', 'on: {},') })).to.include('it has both')
    const many = { 'one.js': scanner('one', 'atOnce: 300,') }
    expect(await messageFor(many)).to.include('expected an integer from 1 to 256 for atOnce')
  })
})
