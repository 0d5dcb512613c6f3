import { expect } from 'chai'
import type { Finding } from '../../../src/core/files/finding.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { parseDuration, shownDuration } from '../../../src/core/text/duration.ts'
import { columns, failureText, humanOutput, jsonOutput } from '../../../src/process/cli/output.ts'

const FINDING: Finding = {
  kind: 'size differs',
  clientId: 'first',
  key: storedKey('a/b.png'),
  detail: '1 byte',
}

describe('the output of a command', () => {
  let out: string
  let err: string
  const write = (text: string) => {
    out += text
  }
  beforeEach(() => {
    out = ''
    err = ''
  })

  it('has a line for each finding, their explanations, and the answer', () => {
    const output = humanOutput({ write, status: undefined, show: (answer) => `answer ${answer}\n` })
    output.report({ finding: FINDING })
    output.report({ finding: { kind: 'failed', clientId: '7JAiMJ5xg1x', key: FINDING.key } })
    output.report({ finding: FINDING })
    output.report({ progress: { looked: 5 } })
    expect(output.findings).to.equal(3)
    output.result(42)
    const lines = out.split('\n')
    expect(lines[0]).to.equal('size differs                 first        a/b.png  (1 byte)')
    expect(lines[1]).to.equal('failed                       7JAiMJ5xg1x  a/b.png')
    expect(lines.slice(3)).to.deep.equal([
      '',
      '2  size differs  the size in the bucket differs from the index',
      '1  failed        could not be read or added',
      '',
      'answer 42',
      '',
    ])
  })

  it('escapes characters that change the text direction or move the cursor', () => {
    const output = humanOutput({ write, status: undefined, show: (name) => `1  ${name}\n2  ä\n` })
    output.report({ finding: { ...FINDING, detail: 'a\u001b[2J' } })
    out = out.slice(out.indexOf('('))
    output.result('shop\u202epohs')
    expect(out)
      .to.match(/^\(a\\u001b\[2J\)\n/)
      .and.to.match(/1 {2}shop\\u202epohs\n2 {2}ä\n$/)
  })

  it('has the root cause of a failure, once', () => {
    const root = new Error('WRONGPASS invalid password')
    const cause = new Error('not writeable', { cause: root })
    expect(failureText(new Error('no answer', { cause }))).to.equal('no answer (WRONGPASS invalid password)')
    expect(failureText(new Error(`no S3: ${root.message}`, { cause }))).to.equal(`no S3: ${root.message}`)
    expect(failureText(new Error('no answer', { cause: new AggregateError([]) }))).to.equal(
      'no answer (AggregateError)',
    )
    expect(failureText(new Error('a\u202eb'))).to.equal('a\\u202eb')
  })

  it('has one line of progress, which is removed before other output', () => {
    const status = (text: string) => {
      err += text
    }
    const output = humanOutput({ write, status, show: () => 'done\n' })
    output.report({ progress: { looked: 5, findings: 0 } })
    expect(err).to.equal('\r\u001b[K5 looked, 0 findings')
    err = ''
    output.report({ finding: FINDING })
    expect(err).to.equal('\r\u001b[K')
    err = ''
    output.result(undefined)
    output.clear()
    expect(err, 'nothing is there to be taken back').to.equal('')
    expect(out).to.match(/done\n$/)
  })

  it('is JSON lines for programs, without progress', () => {
    const output = jsonOutput(write)
    output.report({ progress: { looked: 5 } })
    output.report({ finding: FINDING })
    output.result({ a: 1 })
    expect(output.findings).to.equal(1)
    expect(out).to.equal(`${JSON.stringify({ finding: FINDING })}\n{"a":1}\n`)
  })

  it('has columns as wide as their widest cell, and no trailing spaces', () => {
    expect(
      columns([
        ['a', 'bbb', 'c'],
        ['dd', '', 'ee'],
        ['f', '', ''],
      ]),
    ).to.equal('a   bbb  c\ndd       ee\nf\n')
  })
})

describe('a duration', () => {
  for (const [text, ms] of [
    ['0s', 0],
    ['90m', 5_400_000],
    ['24h', 86_400_000],
    ['365d', 31_536_000_000],
  ] as const)
    it(`${text} is ${ms} ms`, () => expect(parseDuration(text)).to.equal(ms))

  for (const text of ['0d', '1s', '90s', '90m', '25h', '7d'])
    it(`${text} is printed in the format of the input`, () =>
      expect(shownDuration(parseDuration(text) ?? Number.NaN)).to.equal(text))

  for (const text of ['', '5', 'h', '1.5h', '-1h', '366d', '8761h', '1w', ' 1h', '1h ', '1H', '9999999999s'])
    it(`${JSON.stringify(text)} is invalid`, () => expect(parseDuration(text)).to.equal(undefined))
})
