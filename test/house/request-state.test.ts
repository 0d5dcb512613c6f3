import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT } from '../support/service.ts'

describe('the state of requests', () => {
  it('is in http/request-state.ts alone: no other file has a collection that is keyed by requests or responses', () => {
    const http = join(PROJECT, 'src/http')
    const files = readdirSync(http, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    )
    const keyed = /new Weak(?:Map|Set)<(?:Request|Response|IncomingMessage|ServerResponse)\b/
    expect(files.length).to.be.above(50)
    expect(files.filter((file) => keyed.test(readFileSync(join(http, file), 'utf8')))).to.deep.equal([])
  })

  it('does not include changes of the URL or of its parameters', () => {
    const http = join(PROJECT, 'src/http')
    const files = readdirSync(http, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    )
    const changed = files.filter((file) =>
      /\breq\.(?:url|params(?:\.\w+)?) = |path\.shift\(\)/.test(readFileSync(join(http, file), 'utf8')),
    )
    // Before Express, which cannot parse an absolute URL.
    expect(changed).to.deep.equal(['connection/request-target.ts'])
  })
})
