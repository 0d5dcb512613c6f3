import { Readable } from 'node:stream'
import { expect } from 'chai'
import { ask, type Given, hostName } from '../../../../src/process/cli/init/questions.ts'
import { rejection } from '../../../support/rejection.ts'

describe('the questions of sluice init', () => {
  /** Asks on a terminal where these lines are typed. */
  const answered = async (lines: readonly string[], given: Given = {}) => {
    let output = ''
    const input = Readable.from(lines.map((line) => `${line}\n`))
    const write = (text: string) => {
      output += text
    }
    return { answers: await ask(given, { input, write }), output }
  }

  it('have defaults, for an empty line', async () => {
    const { answers } = await answered(['', '', '', '', ''])
    expect(answers).to.deep.equal({
      folder: 'sluice',
      platform: 'compose',
      storage: 'disk',
      domain: undefined,
      start: true,
    })
  })

  it('are repeated with the reason after a wrong answer', async () => {
    const { answers, output } = await answered(['a', '9', 'node', '2', 'https://x', 'Files.example.com'])
    expect(answers).to.include({ folder: 'a', platform: 'node', storage: 's3', domain: 'files.example.com' })
    expect(output).to.include('expected a number from 1 to 7').and.include('received "https://x"')
    // Without the keys of the bucket it cannot start.
    expect(answers.start).to.equal(undefined)
  })

  it('are left out for what is given, and for what has one answer only', async () => {
    const { answers, output } = await answered(['files.example.com'], { folder: 'a', platform: 'fly' })
    expect(answers).to.include({ platform: 'fly', storage: 's3', domain: 'files.example.com' })
    expect(output).to.equal('Domain, such as files.example.com, or nothing: ')
  })

  it('end with an error when the input ends', async () => {
    expect(await rejection(answered(['a', 'node']))).to.have.property(
      'message',
      'the input was closed. Nothing was written',
    )
  })

  it('accept host names only', () => {
    expect(hostName('A-b.Example.COM')).to.equal('a-b.example.com')
    for (const wrong of [
      '',
      'localhost',
      'a b.de',
      'a.de/x',
      'a.de:80',
      '-a.de',
      'a..de',
      '1.2.3.4',
      `${'a'.repeat(64)}.de`,
    ])
      expect(() => hostName(wrong), wrong).to.throw('expected a host name')
  })
})
