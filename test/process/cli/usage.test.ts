import { expect } from 'chai'
import { version } from '../../../src/process/version.ts'
import { sluice } from '../../support/programs/sluice.ts'

describe('the command line of sluice', () => {
  for (const args of [
    [],
    ['nonsense'],
    ['client'],
    ['client', 'rotate'],
    ['client', 'rotate', 'first', '--keep-old', 'a while'],
    ['client', 'rotate', 'first', '--keep-old', '366d'],
    ['client', 'remove', 'one', 'two'],
    ['client', 'set'],
    ['client', 'set', 'first'],
    ['client', 'set', 'first', '--json'],
    ['client', 'set', 'first', '--presets-only', 'yes'],
    ['client', 'set', 'first', '--allowed-widths', '320;640'],
    ['client', 'set', 'first', '--allowed-widths', '320,'],
    ['client', 'set', 'first', '--variant-limit', 'none'],
    ['check', '--fast'],
    ['client', 'create', '--name'],
  ])
    it(`exits with 2: sluice ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await sluice(args, {})
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
      expect(stderr).to.not.equal('')
    })

  for (const args of [
    [],
    ['client'],
    ...['create', 'list', 'rotate', 'set', 'remove'].map((name) => ['client', name]),
    ...['check', 'reindex', 'sweep'].map((name) => [name]),
  ])
    it(`prints help: sluice ${[...args, '--help'].join(' ')}`, async () => {
      const { code, stdout, stderr } = await sluice([...args, '--help'], {})
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
      expect(stdout).to.match(new RegExp(`^Usage: sluice ${args.join(' ')}`))
    })

  it('prints its version', async () => {
    expect(await sluice(['--version'], {})).to.deep.equal({ code: 0, stdout: `${version()}\n`, stderr: '' })
  })
})
