import { expect } from 'chai'
import { describeVariables } from '../../../config/load.ts'
import { type Greeting, greet, usage, workerUsage } from '../../../src/process/web/banner.ts'

const GREETING: Greeting = {
  version: '1.2.3',
  baseUrl: 'http://a.example',
  bucket: { kind: 's3', name: 'S3 bucket photos' },
  index: { kind: 'redis', name: 'Redis at 127.0.0.1:6379' },
  clientToken: 'pub_1',
  created: { secretClientToken: 'sec_1', file: '/data/credentials.json' },
  firstVisit: 'http://a.example/dashboard/welcome#lnk_1',
}

describe('the banner', () => {
  /** What is printed and logged. */
  function outcome(greeting: Greeting, isTerminal: boolean) {
    let text = ''
    const lines: object[] = []
    const info = (fields: object, msg: string) => lines.push({ msg, ...fields })
    const log = { info, debug: info, warn: info, error: info }
    greet(greeting, { isTerminal, log, write: (more) => (text += more) })
    return { text, lines }
  }

  it('has version, tokens and commands to paste on a terminal', () => {
    const { text, lines } = outcome(GREETING, true)
    expect(lines).to.deep.equal([])
    expect(text)
      .to.match(/^ +version +1\.2\.3$/m)
      .and.match(/^ +secret client token +sec_1$/m)
      .and.match(/^ +files +S3 bucket photos$/m)
      .and.include("curl -H 'Authorization: sec_1'")
      .and.match(/^ +http:\/\/a\.example\/dashboard\/welcome#lnk_1$/m)
  })

  it('has no link when a person can sign in', () => {
    const { text } = outcome({ ...GREETING, firstVisit: undefined }, true)
    expect(text).to.not.match(/15 minutes|welcome/)
  })

  it('has no secret of the operator on a terminal', () => {
    const { text } = outcome({ ...GREETING, created: undefined }, true)
    expect(text)
      .to.include('the value of SECRET_CLIENT_TOKEN')
      .and.include('"Authorization: $SECRET_CLIENT_TOKEN"')
  })

  it('is one line of the log elsewhere, which has the place of the secret instead of the secret', () => {
    const line = {
      version: '1.2.3',
      url: 'http://a.example',
      bucket: 's3',
      index: 'redis',
      clientToken: 'pub_1',
    }
    const msg = 'Sluice is ready at http://a.example'
    expect(outcome(GREETING, false)).to.deep.equal({
      text: '',
      lines: [{ msg, ...line, secretIn: '/data/credentials.json' }],
    })
    expect(outcome({ ...GREETING, created: undefined }, false).lines).to.deep.equal([
      { msg, ...line, secretIn: 'SECRET_CLIENT_TOKEN' },
    ])
  })
})

describe('the text of --help', () => {
  const variables = describeVariables()

  it('has every variable', () => {
    for (const text of [usage(variables), workerUsage(variables)])
      for (const { name, help, expected } of variables)
        expect(text).to.include(name).and.include(help).and.include(expected)
  })

  it('has the requirements of a worker', () => {
    expect(workerUsage(variables))
      .to.match(/npm run worker/)
      .and.include('the environment of the web processes, REDIS_URL, and ffmpeg')
      .and.include('MEDIA_CONCURRENCY')
  })
})
