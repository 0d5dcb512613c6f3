import { expect } from 'chai'
import { loadConfig } from '../../config/load.ts'

describe('CORS_ORIGINS', () => {
  it('takes origins exactly as browsers send them', () => {
    for (const [text, origins] of [
      ['https://app.example', ['https://app.example']],
      ['http://localhost:5173, https://a.example', ['http://localhost:5173', 'https://a.example']],
      ['http://[::1]:8080', ['http://[::1]:8080']],
    ] as const)
      expect(loadConfig({ CORS_ORIGINS: text }).CORS_ORIGINS, text).to.deep.equal(origins)
    expect(loadConfig({}).CORS_ORIGINS).to.equal(undefined)
  })

  it('refuses all other texts', () => {
    for (const text of [
      ...['*', 'null', 'app.example', 'https://app.example/', 'https://app.example/a', 'https://App.example'],
      ...['https://app.example:443', 'https://*.example', 'ftp://a.example', 'https://a@app.example'],
    ])
      expect(() => loadConfig({ CORS_ORIGINS: text }), text).to.throw(/^CORS_ORIGINS: expected origins/)
  })
})
