import { expect } from 'chai'
import { createSignedLinks } from '../../../../src/service/upload/links/upload-links.ts'
import type { UploadRequest } from '../../../../src/service/upload/upload-request.ts'

describe('signed links', () => {
  it('pass on the listed members only, whatever else the caller has', async () => {
    const client = { id: 'first', token: 'public-token', secrets: [], createdAt: 0 }
    const requests: UploadRequest[] = []
    const use = { number: 0, signal: new AbortController().signal, async note() {}, async confirm() {} }
    const links = createSignedLinks({
      keys: () => Buffer.alloc(32),
      uses: {
        async check() {},
        reserve: async () => ({ ...use, async finish() {}, async release() {} }),
      } as never,
      originals: { resolve: async () => undefined } as never,
      findClient: () => client,
      async upload(request) {
        requests.push(request)
        return []
      },
    })
    const { url } = links.sign(client, { folder: undefined, expiresInSeconds: 60 }, '')
    async function* files() {}
    const arriving = {
      files: files(),
      signal: use.signal,
      annotations: () => ({ tags: ['a'], metadata: {} }),
    }
    await links.upload(links.read(url), arriving)
    expect(requests).to.have.length(1)
    expect(requests[0]).to.not.have.property('annotations')
  })
})
